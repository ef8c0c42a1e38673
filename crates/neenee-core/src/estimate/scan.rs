//! Running the automaton over a text, in several places at once.
//! Deliberately no unsafe and no vector instructions: what it waits for is the table, not arithmetic.

use super::TokenizerFamily;
use super::automaton::{AT_ONCE, CLASS_OF, CLASSES, FEATURES, NONE, START, STATES, step};
use super::weights;

/// Weights are whole numbers of this fraction of a token.
pub(super) const ONE_TOKEN: f64 = 4096.0;

/// The sum of the weights of the steps over `bytes`, in units of 1 / [`ONE_TOKEN`].
///
/// Each step needs the state that the step before it left, a load from the first-level cache that
/// takes 5 cycles or more. A long text is therefore cut into lanes that are read in turns, so that
/// the loads of one hide behind those of the others. A lane first reads the end of the lane before it
/// to find its state, which is the true one unless a run of digits or of mixed letters and digits
/// is longer than that; its place in a group of digits may then be off.
pub(super) fn weigh(family: TokenizerFamily, bytes: &[u8]) -> i64 {
    let table = table_of(family);
    let mut sum = 0;
    let mut state = Cursor::new();
    for start in (0..bytes.len()).step_by(BLOCK) {
        let block = &bytes[start..bytes.len().min(start + BLOCK)];
        if block.len() < LANES * SHORTEST_LANE {
            sum += state.read(table, block);
        } else {
            sum += state.read_lanes(table, block);
        }
    }
    sum
}

/// An entry holds the weight in its upper half and the row of the next state in its lower half.
type Table = [u32; STATES * CLASSES];

const LANES: usize = 8;
/// Bytes read at a time: a sum of 16-bit weights over it stays within 32 bits.
const BLOCK: usize = 32 * 1024;
/// Bytes that a lane reads to find its state: more than the automaton remembers of anything but runs.
const WARM_UP: usize = 24;
/// Shorter lanes cost more to begin than they hide.
const SHORTEST_LANE: usize = 48;

#[derive(Clone, Copy)]
struct Cursor {
    /// The entry of the last step.
    entry: u32,
}

impl Cursor {
    fn new() -> Self {
        Self {
            entry: u32::from(START) * CLASSES as u32,
        }
    }

    #[inline(always)]
    fn step(&mut self, table: &Table, byte: u8) -> i32 {
        let row = self.entry as usize & ((STATES - 1) * CLASSES);
        self.entry = table[row | usize::from(CLASS_OF[usize::from(byte)])];
        self.entry as i32 >> 16
    }

    fn read(&mut self, table: &Table, bytes: &[u8]) -> i64 {
        let mut sum = 0;
        for byte in bytes {
            sum += self.step(table, *byte);
        }
        i64::from(sum)
    }

    fn read_lanes(&mut self, table: &Table, block: &[u8]) -> i64 {
        let length = block.len() / LANES;
        let mut cursors = [*self; LANES];
        for (lane, cursor) in cursors.iter_mut().enumerate().skip(1) {
            *cursor = Self::new();
            cursor.read(table, &block[lane * length - WARM_UP..lane * length]);
        }
        let lanes: [&[u8]; LANES] =
            std::array::from_fn(|lane| &block[lane * length..(lane + 1) * length]);
        let [a, b, c, d, e, f, g, h] = lanes;
        let [mut p, mut q, mut r, mut s, mut t, mut u, mut v, mut w] = cursors;
        let mut sum = 0;
        let first = a.iter().zip(b).zip(c.iter().zip(d));
        let second = e.iter().zip(f).zip(g.iter().zip(h));
        for (((a, b), (c, d)), ((e, f), (g, h))) in first.zip(second) {
            sum += p.step(table, *a);
            sum += q.step(table, *b);
            sum += r.step(table, *c);
            sum += s.step(table, *d);
            sum += t.step(table, *e);
            sum += u.step(table, *f);
            sum += v.step(table, *g);
            sum += w.step(table, *h);
        }
        *self = w;
        i64::from(sum) + self.read(table, &block[LANES * length..])
    }
}

fn table_of(family: TokenizerFamily) -> &'static Table {
    static MIXED: Table = table(weights::MIXED);
    static O200K: Table = table(weights::O200K);
    static GEMINI: Table = table(weights::GEMINI);
    static LLAMA3: Table = table(weights::LLAMA3);
    static QWEN3: Table = table(weights::QWEN3);
    static DEEPSEEK: Table = table(weights::DEEPSEEK);
    match family {
        TokenizerFamily::Mixed => &MIXED,
        TokenizerFamily::O200k => &O200K,
        TokenizerFamily::Gemini => &GEMINI,
        TokenizerFamily::Llama3 => &LLAMA3,
        TokenizerFamily::Qwen3 => &QWEN3,
        TokenizerFamily::DeepSeek => &DEEPSEEK,
    }
}

/// Each step's weights added up, so that a step is one load.
///
/// Weights may be fewer than features, so that a new feature compiles and can be fitted; a test
/// sees to it that what is kept is whole.
const fn table(weights: &[i16]) -> Table {
    assert!(weights.len() <= FEATURES);
    let mut table = [0; STATES * CLASSES];
    let mut at = 0;
    while at < table.len() {
        let step = step((at / CLASSES) as u8, (at % CLASSES) as u8);
        let mut weight = 0;
        let mut index = 0;
        while index < AT_ONCE {
            let feature = step.features[index];
            if feature != NONE && (feature as usize) < weights.len() {
                weight += weights[feature as usize] as i32;
            }
            index += 1;
        }
        assert!(weight >= i16::MIN as i32 && weight <= i16::MAX as i32);
        table[at] = ((weight as u32) << 16) | (step.next as u32 * CLASSES as u32);
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_feature_has_a_weight() {
        for weights in [
            weights::MIXED,
            weights::O200K,
            weights::GEMINI,
            weights::LLAMA3,
            weights::QWEN3,
            weights::DEEPSEEK,
        ] {
            assert_eq!(
                weights.len(),
                FEATURES,
                "run cargo xtask calibrate after a change of the automaton"
            );
        }
    }

    #[test]
    fn lanes_add_up_to_what_one_reader_sums() {
        let line =
            "    let größe = items.iter().map(|x| x.len()).sum::<usize>(); // 漢字 12345 é\n";
        for text in [
            line.repeat(9),
            line.repeat(1000),
            "x".repeat(100_000),
            "0123456789".repeat(5000),
        ] {
            let table = table_of(TokenizerFamily::Mixed);
            let serial: i64 = text
                .as_bytes()
                .chunks(1)
                .fold((0, Cursor::new()), |(sum, mut cursor), byte| {
                    (sum + cursor.read(table, byte), cursor)
                })
                .0;
            let lanes = weigh(TokenizerFamily::Mixed, text.as_bytes());
            let places = (text.len() / BLOCK + 1) * LANES;
            let off = (lanes - serial).abs() as f64 / ONE_TOKEN;
            assert!(
                off <= places as f64 * 0.5,
                "off by {off} tokens in {} bytes",
                text.len()
            );
        }
    }
}
