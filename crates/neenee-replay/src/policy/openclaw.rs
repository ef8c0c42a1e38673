//! OpenClaw's session pruning: large old results are trimmed to head and tail, then cleared.
//! Deliberately with results that hold pictures left alone, as documented.
//!
//! Source: <https://docs.openclaw.ai/concepts/session-pruning>: mode `cache-ttl` acts once nothing was
//! sent for 5 minutes; the last 3 assistant messages protect what follows the first of them; over 0.3 of
//! the window (4 chars a token) results over 4 000 chars keep 1 500 of head and of tail; over 0.5, if at
//! least 50 000 chars could go, the oldest are cleared until it is not.
//! Parameters: `ttl_minutes` (0 acts whenever over the ratios), `keep_turns`, `soft`, `hard` (fractions).

use neenee_core::estimate::count_chars;
use neenee_core::message::Tier;
use neenee_core::pressure::PRUNED_TOOL_PLACEHOLDER;
use neenee_core::pressure::view::View;

use super::{Entry, Policy};
use crate::ground::Ground;
use crate::params::{ParamError, Reading};
use crate::window::{Edit, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "openclaw",
    about: "after 5 idle minutes trims large old results, then clears the oldest",
    build: |params, ground, _| Ok(Box::new(OpenClaw::new(params, ground)?)),
};

const SOFT_CHARS: usize = 4_000;
const KEPT_CHARS: usize = 1_500;
const LEAST_CHARS: usize = 50_000;

struct OpenClaw {
    ttl: i64,
    keep_turns: usize,
    soft: f64,
    hard: f64,
    window_chars: f64,
    /// Chars of everything but results.
    other: usize,
    /// Chars of each result in the window.
    chars: Vec<usize>,
}

impl OpenClaw {
    fn new(params: &Reading<'_>, ground: &Ground) -> Result<Self, ParamError> {
        Ok(OpenClaw {
            ttl: params.count("ttl_minutes", 5)? as i64 * 60_000,
            keep_turns: params.count("keep_turns", 3)?,
            soft: params.number("soft", 0.3)?,
            hard: params.number("hard", 0.5)?,
            window_chars: ground.window_tokens as f64 * 4.0,
            other: 0,
            chars: Vec::new(),
        })
    }

    fn ratio(&self) -> f64 {
        (self.other + self.chars.iter().sum::<usize>()) as f64 / self.window_chars
    }
}

impl Policy for OpenClaw {
    fn see(&mut self, view: &View<'_>) {
        match view {
            View::Text(text) | View::Opaque(text) | View::Reasoning { text, .. } => {
                self.other += count_chars(text);
            }
            View::Call(call) => self.other += count_chars(call.arguments),
            View::Result(result) => self.chars.push(count_chars(result.text)),
            _ => {}
        }
    }

    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit> {
        let rested = self.ttl == 0 || window.idle().is_some_and(|idle| idle > self.ttl);
        let Some(cutoff) = window
            .turn()
            .checked_sub(self.keep_turns)
            .filter(|_| rested)
        else {
            return Vec::new();
        };
        if self.ratio() < self.soft {
            return Vec::new();
        }
        let prunable: Vec<usize> = (0..window.held().len())
            .filter(|&at| window.found(at).turn <= cutoff && !window.found(at).media)
            .filter(|&at| window.held()[at].tier != Tier::Cleared)
            .collect();
        let mut edits: Vec<Edit> = Vec::new();
        for &at in &prunable {
            if self.chars[at] > SOFT_CHARS {
                let text = trimmed(window.result(at).text, self.chars[at]);
                self.chars[at] = count_chars(&text);
                edits.push(Edit {
                    ordinal: at,
                    text: Some(text),
                    tier: Tier::Truncated,
                    pass: "soft-trim",
                    saved_inside: 0,
                });
            }
        }
        let total: usize = prunable.iter().map(|&at| self.chars[at]).sum();
        if self.ratio() < self.hard || total < LEAST_CHARS {
            return edits;
        }
        let after = count_chars(PRUNED_TOOL_PLACEHOLDER);
        let mut chars = self.ratio() * self.window_chars;
        for &at in &prunable {
            if chars < self.hard * self.window_chars {
                break;
            }
            chars -= self.chars[at] as f64 - after as f64;
            self.chars[at] = after;
            edits.retain(|edit| edit.ordinal != at);
            edits.push(Edit::clear(at, PRUNED_TOOL_PLACEHOLDER, "hard-clear"));
        }
        edits
    }
}

fn trimmed(text: &str, chars: usize) -> String {
    let head: String = text.chars().take(KEPT_CHARS).collect();
    let tail: String = text.chars().skip(chars - KEPT_CHARS).collect();
    format!(
        "{head}\n...\n{tail}\n\n[Tool result trimmed: kept first {KEPT_CHARS} chars and last {KEPT_CHARS} chars of {chars} chars.]"
    )
}
