//! Where any of many lines stands in a text, as a part of it.
//! Deliberately one pass over the text whatever the number of lines: each is found by its first bytes.

use rustc_hash::FxHashMap;

/// Bytes that a line is found by; lines that count are at least so long.
const ANCHOR: usize = 16;

/// Bits of the filter that spares most positions a look-up.
const FILTER_BITS: u32 = 20;

/// Lines that are looked for, numbered as they were added.
#[derive(Debug)]
pub(super) struct Lines {
    texts: Vec<Box<str>>,
    numbers: FxHashMap<Box<str>, u32>,
    by_anchor: FxHashMap<[u8; ANCHOR], Vec<u32>>,
    filter: Vec<u64>,
}

impl Default for Lines {
    fn default() -> Self {
        Lines {
            texts: Vec::new(),
            numbers: FxHashMap::default(),
            by_anchor: FxHashMap::default(),
            filter: vec![0; 1 << (FILTER_BITS - 6)],
        }
    }
}

impl Lines {
    /// The number of a line, which is added if it is new. One that is too short is never found.
    pub(super) fn add(&mut self, line: &str) -> u32 {
        if let Some(&number) = self.numbers.get(line) {
            return number;
        }
        let number = self.texts.len() as u32;
        self.texts.push(line.into());
        self.numbers.insert(line.into(), number);
        if let Some(anchor) = line.as_bytes().first_chunk::<ANCHOR>() {
            self.by_anchor.entry(*anchor).or_default().push(number);
            let bit = bit(anchor);
            self.filter[bit / 64] |= 1 << (bit % 64);
        }
        number
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.texts.len()
    }

    /// The text of one.
    pub(super) fn text(&self, number: u32) -> &str {
        &self.texts[number as usize]
    }

    /// Tells of every line at every place where it stands in `text`.
    pub(super) fn find(&self, text: &str, mut found: impl FnMut(u32)) {
        let bytes = text.as_bytes();
        for at in 0..(bytes.len() + 1).saturating_sub(ANCHOR) {
            let Some(anchor) = bytes[at..].first_chunk::<ANCHOR>() else {
                break;
            };
            let bit = bit(anchor);
            if self.filter[bit / 64] & (1 << (bit % 64)) == 0 {
                continue;
            }
            for &number in self.by_anchor.get(anchor).into_iter().flatten() {
                if bytes[at..].starts_with(self.texts[number as usize].as_bytes()) {
                    found(number);
                }
            }
        }
    }
}

fn bit(anchor: &[u8; ANCHOR]) -> usize {
    let number = u128::from_le_bytes(*anchor);
    let folded = (number as u64) ^ ((number >> 64) as u64).rotate_left(23);
    let mixed = folded.wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed >> (64 - FILTER_BITS)) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_as_parts_and_at_the_ends() {
        let mut lines = Lines::default();
        let texts = [
            "let total = sum(items);",
            "let total = sum(items",
            "会话窗口结果解析缓存请求预算令牌",
        ];
        let numbers: Vec<u32> = texts.iter().map(|text| lines.add(text)).collect();
        assert_eq!(numbers, [0, 1, 2]);
        assert_eq!(lines.add(texts[1]), 1);
        lines.add("short");
        let find = |text: &str| {
            let mut found = Vec::new();
            lines.find(text, |number| found.push(number));
            found
        };
        assert_eq!(find("a.rs:7: let total = sum(items); // all"), [0, 1]);
        assert_eq!(find("let total = sum(items"), [1]);
        assert_eq!(find("let total = sum(item"), [0; 0]);
        assert_eq!(find(&format!("x{}", texts[2])), [2]);
        assert_eq!(find("short"), [0; 0]);
        assert_eq!(find(""), [0; 0]);
    }
}
