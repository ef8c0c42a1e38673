//! The texts of the table by which results are read, made ready to be looked for in every one of them.
//! Deliberately no meaning: what a found text says is `result`'s.

use aho_corasick::{AhoCorasick, Anchored, Input, StartKind, packed};

use serde::Deserialize;

use super::rows::Common;

/// How far into a result, or into its last line, a text may stand that is looked for anywhere, in bytes.
const REACH: usize = 300;

/// What every result of any tool is looked through for.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) errors: Openings,
    pub(super) refused: Openings,
    pub(super) listings: Openings,
    pub(super) exit_first: Statuses,
    pub(super) exit_last: Statuses,
    pub(super) bodies: Prefixes,
    pub(super) volatile: Prefixes,
    pub(super) cuts: Anywhere,
    pub(super) notes: Notes,
}

impl Marks {
    pub(super) fn new(common: &Common) -> Self {
        Self {
            errors: Openings::new(&common.errors),
            refused: Openings::new(&common.refused),
            listings: Openings::new(&common.listings),
            exit_first: Statuses::new(&common.exit_first),
            exit_last: Statuses::new(&common.exit_last),
            bodies: Prefixes::new(&common.bodies),
            volatile: Prefixes::new(&common.volatile),
            cuts: Anywhere::new(&common.cuts),
            notes: Notes::new(&common.notes),
        }
    }
}

/// Texts that stand at the start of another.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub(super) struct Prefixes(Option<AhoCorasick>);

impl From<Vec<String>> for Prefixes {
    fn from(texts: Vec<String>) -> Self {
        Self::new(&texts)
    }
}

impl Prefixes {
    pub(super) fn new(texts: &[impl AsRef<str>]) -> Self {
        let texts = texts.iter().map(AsRef::as_ref);
        let automaton = AhoCorasick::builder()
            .start_kind(StartKind::Anchored)
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            .build(texts.filter(|text| !text.is_empty()));
        Self(automaton.ok())
    }

    /// The length of the longest one that `text` starts with, and which it is.
    fn find(&self, text: &str) -> Option<(usize, usize)> {
        let input = Input::new(text).anchored(Anchored::Yes);
        let found = self.0.as_ref()?.find(input)?;
        Some((found.end(), found.pattern().as_usize()))
    }

    /// `text` behind the longest one that it starts with.
    pub(super) fn strip<'a>(&self, text: &'a str) -> Option<&'a str> {
        self.find(text).map(|(length, _)| &text[length..])
    }

    pub(super) fn is_start_of(&self, text: &str) -> bool {
        self.find(text).is_some()
    }
}

/// Texts that stand anywhere in another: looked for in whole results, so by vectors where the machine has them.
#[derive(Default)]
pub(super) struct Anywhere {
    packed: Option<packed::Searcher>,
    plain: Option<AhoCorasick>,
}

impl Anywhere {
    fn new(texts: &[String]) -> Self {
        let packed = packed::Searcher::new(texts);
        let plain = packed.is_none().then(|| anywhere(texts)).flatten();
        Self { packed, plain }
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        match (&self.packed, &self.plain) {
            (Some(packed), _) => packed.find(text).is_some(),
            (None, Some(plain)) => plain.is_match(text),
            (None, None) => false,
        }
    }
}

/// Texts that a result begins with or, those written with a leading `*`, holds in its head or last line.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(from = "Vec<String>")]
pub(super) struct Openings {
    first: Prefixes,
    inside: Option<AhoCorasick>,
}

impl From<Vec<String>> for Openings {
    fn from(patterns: Vec<String>) -> Self {
        Self::new(&patterns)
    }
}

impl Openings {
    pub(super) fn new(patterns: &[String]) -> Self {
        let (inside, first): (Vec<&str>, Vec<&str>) = patterns
            .iter()
            .map(String::as_str)
            .partition(|pattern| pattern.starts_with('*'));
        let inside: Vec<&str> = inside.iter().map(|pattern| &pattern[1..]).collect();
        Self {
            first: Prefixes::new(&first),
            inside: anywhere(&inside),
        }
    }

    /// `text` without white space around it.
    pub(super) fn matches(&self, text: &str) -> bool {
        if self.first.is_start_of(text) {
            return true;
        }
        let Some(inside) = &self.inside else {
            return false;
        };
        let bytes = text.as_bytes();
        if inside.is_match(&bytes[..REACH.min(bytes.len())]) {
            return true;
        }
        let last = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
        let last = last.max(bytes.len().saturating_sub(REACH));
        inside.is_match(&bytes[last..])
    }
}

/// Lines that tell an exit status: a text, the number, a text. With a leading `*` the first text may stand
/// anywhere in the line.
#[derive(Default)]
pub(super) struct Statuses {
    first: Prefixes,
    /// Per prefix of `first`, what may follow the number.
    behind_first: Vec<Vec<String>>,
    inside: Option<AhoCorasick>,
    behind_inside: Vec<String>,
}

impl Statuses {
    fn new(patterns: &[String]) -> Self {
        let mut statuses = Self::default();
        let mut first: Vec<&str> = Vec::new();
        let mut inside: Vec<&str> = Vec::new();
        for pattern in patterns {
            let Some((before, behind)) = pattern.split_once("{code}") else {
                continue;
            };
            match before.strip_prefix('*') {
                Some(before) => {
                    inside.push(before);
                    statuses.behind_inside.push(behind.to_owned());
                }
                None => match first.iter().position(|known| *known == before) {
                    Some(at) => statuses.behind_first[at].push(behind.to_owned()),
                    None => {
                        first.push(before);
                        statuses.behind_first.push(vec![behind.to_owned()]);
                    }
                },
            }
        }
        statuses.first = Prefixes::new(&first);
        statuses.inside = anywhere(&inside);
        statuses
    }

    /// The status that the first of the first `count` lines of `text` to tell one tells.
    pub(super) fn read_first(&self, text: &str, count: usize) -> Option<i32> {
        let mut rest = text.as_bytes();
        for _ in 0..count {
            let end = memchr::memchr(b'\n', rest).unwrap_or(rest.len());
            let at = text.len() - rest.len();
            if let Some(status) = self.read_line(&text[at..at + end]) {
                return Some(status);
            }
            rest = rest.get(end + 1..)?;
        }
        None
    }

    /// The status that the last of the last `count` lines of `text` to tell one tells.
    pub(super) fn read_last(&self, text: &str, count: usize) -> Option<i32> {
        let mut end = text.len();
        for _ in 0..count {
            let start = memchr::memrchr(b'\n', &text.as_bytes()[..end]);
            let line = &text[start.map_or(0, |at| at + 1)..end];
            if let Some(status) = self.read_line(line) {
                return Some(status);
            }
            end = start?;
        }
        None
    }

    fn read_line(&self, line: &str) -> Option<i32> {
        let line = line.trim_end();
        self.read_start(line).or_else(|| self.read_inside(line))
    }

    fn read_start(&self, line: &str) -> Option<i32> {
        let (length, which) = self.first.find(line)?;
        let behind = &self.behind_first[which];
        behind.iter().find_map(|it| number(&line[length..], it))
    }

    /// The last one counts: what precedes it on the line may be output.
    fn read_inside(&self, line: &str) -> Option<i32> {
        let found = self.inside.as_ref()?.find_iter(line).filter_map(|it| {
            let behind = &self.behind_inside[it.pattern().as_usize()];
            number(&line[it.end()..], behind)
        });
        found.last()
    }
}

/// The number at the start of `text`, when `behind` follows it.
fn number(text: &str, behind: &str) -> Option<i32> {
    let is_digit = |b: &u8| b.is_ascii_digit() || *b == b'-';
    let digits = text.bytes().take_while(|b| is_digit(b)).count();
    let status = text[..digits].parse().ok()?;
    text[digits..].starts_with(behind).then_some(status)
}

/// Notes on the lines shown: texts with numbers between them, found by the longest text of each.
#[derive(Default)]
pub(super) struct Notes {
    keys: Option<AhoCorasick>,
    notes: Vec<Template>,
}

/// `texts[0]`, a number, `texts[1]`, a number, …
struct Template {
    texts: Vec<String>,
    names: Vec<String>,
    /// Which text is looked for.
    key: usize,
}

impl Notes {
    fn new(patterns: &[String]) -> Self {
        let notes: Vec<Template> = patterns.iter().map(|text| Template::new(text)).collect();
        let keys: Vec<&str> = notes
            .iter()
            .map(|note| note.texts[note.key].as_str())
            .collect();
        Self {
            keys: anywhere(&keys),
            notes,
        }
    }

    /// Calls `found` with the name and the number of each blank of each note in `text`.
    pub(super) fn read(&self, text: &str, mut found: impl FnMut(&str, u64)) {
        let Some(keys) = &self.keys else { return };
        for hit in keys.find_overlapping_iter(text) {
            let note = &self.notes[hit.pattern().as_usize()];
            let Some(start) = note.start(&text[..hit.start()]) else {
                continue;
            };
            if let Some(numbers) = note.numbers(&text[start..]) {
                for (name, number) in note.names.iter().zip(numbers) {
                    found(name, number);
                }
            }
        }
    }
}

impl Template {
    fn new(pattern: &str) -> Self {
        let mut texts = Vec::new();
        let mut names = Vec::new();
        let mut rest = pattern;
        while let Some((text, (name, after))) = rest
            .split_once('{')
            .and_then(|(text, behind)| Some((text, behind.split_once('}')?)))
        {
            texts.push(text.to_owned());
            names.push(name.to_owned());
            rest = after;
        }
        texts.push(rest.to_owned());
        let key = (0..texts.len()).max_by_key(|&at| texts[at].len());
        Self {
            key: key.unwrap_or(0),
            texts,
            names,
        }
    }

    /// Where the note starts whose key `before` leads up to.
    fn start(&self, before: &str) -> Option<usize> {
        let mut before = before;
        for text in self.texts[..self.key].iter().rev() {
            before = before.trim_end_matches(|c: char| c.is_ascii_digit());
            before = before.strip_suffix(text.as_str())?;
        }
        Some(before.len())
    }

    /// The numbers of the note that `text` starts with.
    fn numbers(&self, text: &str) -> Option<Vec<u64>> {
        let (last, texts) = self.texts.split_last()?;
        let mut numbers = Vec::with_capacity(texts.len());
        let mut text = text;
        for before in texts {
            text = text.strip_prefix(before.as_str())?;
            let digits = text.bytes().take_while(u8::is_ascii_digit).count();
            numbers.push(text[..digits].parse().ok()?);
            text = &text[digits..];
        }
        text.starts_with(last.as_str()).then_some(numbers)
    }
}

fn anywhere(texts: &[impl AsRef<str>]) -> Option<AhoCorasick> {
    if texts.is_empty() {
        return None;
    }
    AhoCorasick::new(texts.iter().map(AsRef::as_ref)).ok()
}
