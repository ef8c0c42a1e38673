//! The pieces of one answer that could be evidence: its lines and identifiers, each once.
//! Deliberately no reasoning: what is thought aloud is not yet used.

use neenee_core::pressure::view::View;
use rustc_hash::FxHashSet;
use serde_json::Value;

use super::NeedKind;
use super::text::{identifiers, key, lines};

/// No miss is read by its full length when a line is a whole minified file.
const SHOWN_CHARS: usize = 400;

/// One answer's pieces, in the order of the answer.
pub(super) struct Evidence {
    pub(super) pieces: Vec<Piece>,
}

pub(super) struct Piece {
    pub(super) key: u64,
    pub(super) kind: NeedKind,
    pub(super) text: String,
    pub(super) chars: usize,
}

impl Evidence {
    pub(super) fn of(answer: &[View<'_>]) -> Self {
        let mut collect = Collect {
            pieces: Vec::new(),
            seen: FxHashSet::default(),
        };
        for view in answer {
            match view {
                View::Text(text) => collect.text(text),
                View::Call(call) => match serde_json::from_str(call.arguments) {
                    Ok(arguments) => collect.value(&arguments),
                    Err(_) => collect.text(call.arguments),
                },
                _ => {}
            }
        }
        Evidence {
            pieces: collect.pieces,
        }
    }

    pub(super) fn keys(&self) -> impl Iterator<Item = u64> {
        self.pieces.iter().map(|piece| piece.key)
    }
}

struct Collect {
    pieces: Vec<Piece>,
    seen: FxHashSet<u64>,
}

impl Collect {
    fn value(&mut self, value: &Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(items) => items.iter().for_each(|item| self.value(item)),
            Value::Object(fields) => fields.values().for_each(|field| self.value(field)),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        lines(text).for_each(|line| self.piece(NeedKind::Line, line));
        if text.contains("*** Begin Patch") || text.contains("\n@@ ") {
            // A patch quotes what it removes behind a mark.
            let removed = text.lines().filter_map(|line| line.strip_prefix('-'));
            for line in removed.flat_map(lines) {
                self.piece(NeedKind::Line, line);
            }
        }
        identifiers(text).for_each(|name| self.piece(NeedKind::Identifier, name));
    }

    fn piece(&mut self, kind: NeedKind, text: &str) {
        let key = key(text);
        if self.seen.insert(key) {
            self.pieces.push(Piece {
                key,
                kind,
                text: text.chars().take(SHOWN_CHARS).collect(),
                chars: text.chars().count(),
            });
        }
    }
}
