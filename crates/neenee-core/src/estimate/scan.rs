//! Running the automaton over a text, in several places at once.
//! Deliberately no unsafe and no vector instructions: what it waits for is the table, not arithmetic.

use super::TokenizerFamily;
use super::automaton::{AT_ONCE, CLASS_OF, CLASSES, FEATURES, NONE, START, STATES, step};
use super::weights;

/// The sum of the weights of the steps over `bytes`, in tokens.
///
/// Each step needs the state that the step before it left, a load from the first-level cache that
/// takes 5 cycles or more. A long text is therefore cut into lanes that are read in turns, so that
/// the loads of one hide behind those of the others. A lane first reads the end of the lane before it
/// to find its state, which is the true one unless a run of digits or of mixed letters and digits
/// is longer than that; its place in a group of digits may then be off.
pub(super) fn weigh(family: TokenizerFamily, bytes: &[u8]) -> f64 {
    let table = table_of(family);
    let mut cursor = Cursor::new();
    let mut rest = bytes;
    let mut sum = 0;
    // Lengths that the compiler knows let one register point into all lanes.
    sum += cursor.read_lanes::<4096>(table, &mut rest);
    sum += cursor.read_lanes::<1024>(table, &mut rest);
    sum += cursor.read_lanes::<256>(table, &mut rest);
    sum += cursor.read_lanes::<64>(table, &mut rest);
    sum += cursor.read_lanes::<32>(table, &mut rest);
    sum += cursor.read(table, rest);
    sum as f64 / f64::from(ONE_TOKEN)
}

/// An entry is the weight of a step in 1 / [`ONE_TOKEN`], chosen among the nearest numbers such that
/// its [`ROW`] bits are the row of the next state. So one load yields both, and the sum of the whole
/// entries is the sum of the weights: no bit of it has to be cleared.
type Table = [i32; STATES * CLASSES];

/// Large enough for 8 tokens a step in 31 bits, and for an error of 1/16384 of a token by the row.
const ONE_TOKEN: i32 = 1 << 27;
/// The bits of an entry that are the place of the next state's row.
const ROW: usize = (STATES - 1) * CLASSES;

const LANES: usize = 8;
/// Bytes that a lane reads to find its state: more than the automaton remembers of anything but runs.
const WARM_UP: usize = 20;

#[derive(Clone, Copy)]
struct Cursor {
    /// The entry of the last step.
    entry: i64,
}

impl Cursor {
    fn new() -> Self {
        Self {
            entry: START as i64 * CLASSES as i64,
        }
    }

    #[inline(always)]
    fn step(&mut self, table: &Table, byte: u8) -> i64 {
        let row = self.entry as usize & ROW;
        self.entry = i64::from(table[row | WIDE_CLASS_OF[usize::from(byte)] as usize]);
        self.entry
    }

    fn read(&mut self, table: &Table, bytes: &[u8]) -> i64 {
        let mut sum = 0;
        for byte in bytes {
            sum += self.step(table, *byte);
        }
        sum
    }

    /// Reads as many whole blocks of [`LANES`] lanes of `LENGTH` bytes as `rest` begins with.
    fn read_lanes<const LENGTH: usize>(&mut self, table: &Table, rest: &mut &[u8]) -> i64 {
        let mut sum = 0;
        while let Some((block, after)) = rest.split_at_checked(LENGTH * LANES) {
            *rest = after;
            let mut cursors = [Self::new(); LANES];
            for at in LENGTH - WARM_UP..LENGTH {
                for (lane, cursor) in cursors.iter_mut().enumerate().skip(1) {
                    cursor.step(table, block[(lane - 1) * LENGTH + at]);
                }
            }
            cursors[0] = *self;
            for at in 0..LENGTH {
                for (lane, cursor) in cursors.iter_mut().enumerate() {
                    sum += cursor.step(table, block[lane * LENGTH + at]);
                }
            }
            *self = cursors[LANES - 1];
        }
        sum
    }
}

/// As wide as an entry's place, so that looking a class up and adding it is one instruction.
static WIDE_CLASS_OF: [u32; 256] = {
    let mut wide = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        wide[byte] = CLASS_OF[byte] as u32 & (CLASSES as u32 - 1);
        byte += 1;
    }
    wide
};

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
        table[at] = entry(weight, step.next);
        at += 1;
    }
    table
}

/// The number nearest to `weight` whose bits of a row are those of `next`.
const fn entry(weight: i32, next: u8) -> i32 {
    assert!(weight.abs() < 8 * weights::ONE_TOKEN);
    let wanted = weight as i64 * (ONE_TOKEN / weights::ONE_TOKEN) as i64;
    let period = (STATES * CLASSES) as i64;
    let row = next as i64 * CLASSES as i64;
    let below = wanted - (wanted - row).rem_euclid(period);
    let nearest = if wanted - below > period / 2 {
        below + period
    } else {
        below
    };
    nearest as i32
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
            let places = text.len() / 4096 + 5 * LANES;
            let off = (lanes - serial as f64 / f64::from(ONE_TOKEN)).abs();
            assert!(
                off <= places as f64 * 0.5,
                "off by {off} tokens in {} bytes",
                text.len()
            );
        }
    }
}
