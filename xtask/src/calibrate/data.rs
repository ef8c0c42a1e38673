//! Texts with their true counts, and the features that the automaton counts in each.
//! Deliberately keeps no text: a text is its sparse row of counts.

use super::automaton::{CLASS_OF, FEATURES, NONE, START, step};
use anyhow::Context as _;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

/// Whose counts: what the data calls the families that have a table of their own.
pub(super) const TOKENIZERS: [&str; 5] = ["o200k", "gemini", "llama3", "qwen3", "deepseek"];

/// All texts.
pub(super) struct Data {
    pub(super) rows: Vec<Row>,
    /// The names of the sources, sorted.
    pub(super) sources: Vec<String>,
}

/// One text.
pub(super) struct Row {
    /// Index into [`Data::sources`].
    pub(super) source: usize,
    /// Feature and how often it occurs, by feature.
    pub(super) counts: Vec<(u16, f64)>,
    /// Tokens by tokenizer, in the order of [`TOKENIZERS`].
    pub(super) tokens: [f64; TOKENIZERS.len()],
}

#[derive(Deserialize)]
struct Line {
    source: String,
    text: String,
    tokens: BTreeMap<String, u32>,
}

/// Reads the texts of a gzipped JSON Lines file.
pub(super) fn load(path: &Path) -> anyhow::Result<Data> {
    let file =
        std::fs::File::open(path).with_context(|| format!("failed to open {}", path.display()))?;
    let reader = BufReader::new(flate2::read::MultiGzDecoder::new(file));
    let mut lines = Vec::new();
    for (index, line) in reader.lines().enumerate() {
        let place = || format!("failed to read line {} of {}", index + 1, path.display());
        let line = line.with_context(place)?;
        lines.push(serde_json::from_str::<Line>(&line).with_context(place)?);
    }

    let mut sources: Vec<String> = lines.iter().map(|line| line.source.clone()).collect();
    sources.sort();
    sources.dedup();
    let rows = lines
        .iter()
        .filter(|line| !line.text.is_empty())
        .map(|line| row(line, &sources))
        .collect::<anyhow::Result<_>>()?;
    Ok(Data { rows, sources })
}

fn row(line: &Line, sources: &[String]) -> anyhow::Result<Row> {
    let mut tokens = [0.0; TOKENIZERS.len()];
    for (count, name) in tokens.iter_mut().zip(TOKENIZERS) {
        let known = line.tokens.get(name);
        *count = f64::from(*known.with_context(|| format!("a text has no count of {name}"))?);
    }
    Ok(Row {
        source: sources.partition_point(|source| *source < line.source),
        counts: features(&line.text),
        tokens,
    })
}

fn features(text: &str) -> Vec<(u16, f64)> {
    let mut counts = vec![0_u32; FEATURES];
    let mut state = START;
    for byte in text.bytes() {
        let taken = step(state, CLASS_OF[usize::from(byte)]);
        state = taken.next;
        for feature in taken.features {
            if feature != NONE {
                counts[usize::from(feature)] += 1;
            }
        }
    }
    (0_u16..)
        .zip(counts)
        .filter(|(_, count)| *count > 0)
        .map(|(feature, count)| (feature, f64::from(count)))
        .collect()
}
