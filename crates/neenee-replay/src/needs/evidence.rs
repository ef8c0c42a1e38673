//! The pieces of one answer that could be evidence: its lines and identifiers, each once.
//! Deliberately no reasoning: what is thought aloud is not yet used.

use neenee_core::pressure::view::View;
use rustc_hash::FxHashSet;
use serde_json::Value;

use super::lines::Lines;
use super::text::{identifiers, key, lines};

/// One answer's pieces, in the order of the answer.
pub(super) struct Evidence {
    /// Lines by their number.
    pub(super) lines: Vec<u32>,
    pub(super) names: Vec<Box<str>>,
}

impl Evidence {
    pub(super) fn of(answer: &[View<'_>], all: &mut Lines) -> Self {
        let mut evidence = Evidence {
            lines: Vec::new(),
            names: Vec::new(),
        };
        let (mut seen_lines, mut seen_names) = (FxHashSet::default(), FxHashSet::default());
        let mut line = |line: &str| {
            let number = all.add(line);
            if seen_lines.insert(number) {
                evidence.lines.push(number);
            }
        };
        for view in answer {
            for_each_text(view, |text| {
                lines(text).for_each(&mut line);
                if text.contains("*** Begin Patch") || text.contains("\n@@ ") {
                    // A patch quotes what it removes behind a mark.
                    let removed = text.lines().filter_map(|line| line.strip_prefix('-'));
                    removed.flat_map(lines).for_each(&mut line);
                }
                for name in identifiers(text) {
                    if seen_names.insert(key(name)) {
                        evidence.names.push(name.into());
                    }
                }
            });
        }
        evidence
    }
}

/// Hands over what an assistant's view says: text, and every string in the arguments of a call.
pub(super) fn for_each_text(view: &View<'_>, mut tell: impl FnMut(&str)) {
    match view {
        View::Text(text) => tell(text),
        View::Call(call) => match serde_json::from_str(call.arguments) {
            Ok(arguments) => strings(&arguments, &mut tell),
            Err(_) => tell(call.arguments),
        },
        _ => {}
    }
}

fn strings(value: &Value, tell: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => tell(text),
        Value::Array(items) => items.iter().for_each(|item| strings(item, tell)),
        Value::Object(fields) => fields.values().for_each(|field| strings(field, tell)),
        _ => {}
    }
}
