//! LangChain's `ContextEditingMiddleware` with `ClearToolUsesEdit`: per request, nothing is kept.
//! Deliberately counted on the untouched history, as the middleware does: once over the trigger, each
//! request clears one result more.
//!
//! Source: <https://reference.langchain.com/python/langchain/agents/middleware/context_editing>:
//! trigger 100 000 tokens by its approximate counter (4 chars a token, 3 tokens a message),
//! `clear_at_least` 0, keep 3, placeholder `[cleared]`. Parameters: `trigger`, `keep`.

use neenee_core::estimate::count_chars;
use neenee_core::message::Tier;
use neenee_core::pressure::view::View;

use super::{Entry, Policy, threshold};
use crate::ground::Ground;
use crate::params::{ParamError, Reading};
use crate::window::{Edit, Window};

pub(super) const ENTRY: Entry = Entry {
    name: "langchain",
    about: "clears all but the newest 3 results while the whole history is over 100 000 tokens",
    build: |params, ground, _| Ok(Box::new(LangChain::new(params, ground)?)),
};

const PLACEHOLDER: &str = "[cleared]";

struct LangChain {
    trigger: usize,
    keep: usize,
    chars: usize,
    messages: usize,
    cleared: usize,
}

impl LangChain {
    fn new(params: &Reading<'_>, ground: &Ground) -> Result<Self, ParamError> {
        Ok(LangChain {
            trigger: params.count("trigger", threshold(ground, 100_000))?,
            keep: params.count("keep", 3)?,
            chars: 0,
            messages: 0,
            cleared: 0,
        })
    }
}

impl Policy for LangChain {
    fn see(&mut self, view: &View<'_>) {
        self.chars += match view {
            View::Message(_) => {
                self.messages += 1;
                0
            }
            View::Text(text) | View::Opaque(text) | View::Reasoning { text, .. } => {
                count_chars(text)
            }
            View::Call(call) => count_chars(call.name) + count_chars(call.arguments),
            View::Result(result) => count_chars(result.text),
            View::Cwd(_) | View::Weight { .. } => 0,
        };
    }

    fn project(&mut self, window: &Window<'_, '_>) -> Vec<Edit> {
        let end = window.held().len().saturating_sub(self.keep);
        if self.chars / 4 + self.messages * 3 <= self.trigger || end <= self.cleared {
            return Vec::new();
        }
        let fresh = std::mem::replace(&mut self.cleared, end)..end;
        fresh
            .filter(|&at| window.held()[at].tier != Tier::Cleared)
            .map(|at| Edit::clear(at, PLACEHOLDER, "old"))
            .collect()
    }
}
