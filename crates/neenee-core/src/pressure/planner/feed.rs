//! Feeding the planner: each view is measured, paired and entered as it comes.
//! Deliberately no decision; those are made when a plan is asked for.

use super::{Call, FileId, Held, Ledger, MAX_DEPTH, Ordinal, Planner, Speaker, mark_dirty};
use crate::estimate::Measure;
use crate::message::{Degraded, Media, Message, Role, Tier};
use crate::model::RewriteRule;
use crate::pressure::ledger::{Event, EventKind};
use crate::pressure::policy::CHARS_PER_TOKEN;
use crate::pressure::references::{refer_arguments, refer_text};
use crate::pressure::tiers::{TRUNCATE_MIN_CHARS, cut_to, recognise, truncated};
use crate::pressure::view::{CallView, ResultView, View};
use crate::touch::{Access, Outcome, argument_key, label};

impl Planner {
    /// Feeds one view. Costs what the view adds.
    pub fn push(&mut self, view: &View<'_>) {
        self.pos += 1;
        match *view {
            View::Message(role) => self.begin(role),
            View::Cwd(cwd) => self.cwd = Some(cwd.to_owned()),
            View::Text(text) => {
                self.weigh(text);
                if self.speaker == Speaker::Refers && self.paths.len() > 0 {
                    refer_text(&mut self.paths, &self.names, text, self.pos);
                }
            }
            View::Opaque(text) => {
                self.weigh(text);
            }
            View::Reasoning { text, signed } => {
                let tokens = self.weigh(text).tokens;
                if signed {
                    self.signed.push((self.pos, tokens));
                }
            }
            View::Weight { tokens } => self.size += media_size(tokens),
            View::Call(call) => self.call(&call),
            View::Result(result) => self.answer(&result),
        }
    }

    fn begin(&mut self, role: Role) {
        self.speaker = match role {
            Role::User | Role::Assistant => Speaker::Refers,
            Role::System | Role::Tool => Speaker::Weighs,
        };
        if role == Role::Assistant {
            self.open.assistant();
            self.assistant_messages += 1;
            if self.setup.options.rewrite == RewriteRule::AppendOnly {
                for held in self.results.iter_mut().rev() {
                    if held.turn + 1 < self.assistant_messages {
                        break;
                    }
                    held.capped = None;
                }
            }
        }
    }

    fn weigh(&mut self, text: &str) -> Measure {
        let measure = self.setup.estimator.measure(text);
        self.size += measure;
        measure
    }

    fn call(&mut self, view: &CallView<'_>) {
        self.weigh(view.name);
        self.weigh(view.arguments);
        // References first: a call that names a file for the first time does not refer to it.
        if self.paths.len() > 0 {
            refer_arguments(&mut self.paths, &self.names, view.arguments, self.pos);
        }
        let touch = self
            .setup
            .tools
            .call(view.name, view.arguments, self.cwd.as_deref());
        for target in &touch.targets {
            self.names.add(target.path.file_name());
            self.enter(&target.path);
        }
        let key = if touch.targets.is_empty() && self.setup.options.dedupe_calls {
            argument_key(view.name, view.arguments)
        } else {
            0
        };
        let index = self.calls.len() as u32;
        self.open.open(view.id, view.name, index);
        self.calls.push(Call {
            id: view.id.map(Into::into),
            name: view.name.into(),
            at: self.pos,
            key,
            touch,
        });
    }

    fn answer(&mut self, view: &ResultView<'_>) {
        let ordinal = self.results.len() as Ordinal;
        let call = self.open.answer(view.call_id, view.name);
        let mut held = self.measure(view);
        held.call = call;
        held.at = self.pos;
        held.turn = self.assistant_messages;
        let setup = self.setup.clone();
        let name = match call {
            Some(call) => self.calls[call as usize].name.clone(),
            None => view.name.unwrap_or("tool").into(),
        };
        held.protected_tool = setup.options.protected.tool(&name);
        held.failed = view.failed;
        held.exit_status = view.exit_status;
        match call {
            Some(call) => {
                let touch = &self.calls[call as usize].touch;
                held.label = touch.label.as_str().into();
                held.disposable = touch.disposable;
                held.recalls = touch.recalls;
            }
            None => held.label = label(&name, None).into(),
        }
        self.hold(held);
        self.settle(ordinal, view.text);
    }

    /// Enters what the text of a result tells of what its call touched; anew when the text has been
    /// replaced, so that a planner which recorded a plan knows what one that reads the window knows.
    pub(super) fn settle(&mut self, ordinal: Ordinal, text: &str) {
        let mut held = std::mem::take(&mut self.results[ordinal as usize]);
        self.forget(ordinal, &mut held);
        self.settle_held(ordinal, &mut held, text);
        self.results[ordinal as usize] = held;
    }

    fn forget(&mut self, ordinal: Ordinal, held: &mut Held) {
        for file in held.files.drain(..) {
            self.files[file as usize].forget(ordinal);
            self.touched(file);
        }
        held.stale.clear();
        held.duplicate = None;
        if let Some(said) = held.said.take()
            && self.said.get(&said) == Some(&ordinal)
        {
            self.said.remove(&said);
        }
    }

    fn settle_held(&mut self, ordinal: Ordinal, held: &mut Held, text: &str) {
        let setup = self.setup.clone();
        let Some(call) = held.call else {
            held.is_error = held.failed == Some(true);
            return;
        };
        let call = &self.calls[call as usize];
        let (called_at, key) = (call.at, call.key);
        let outcome = Outcome {
            text,
            failed: held.failed,
            exit_status: held.exit_status,
        };
        let settled = call.touch.settle(&setup.tools, &outcome);
        let tier = held.tier();
        held.is_error = settled.failed;
        // What a cleared result once told of its outcome is gone with its text: without the
        // format's own word it supersedes nothing.
        let counts = (!settled.failed || settled.mutations_hold)
            && (tier != Tier::Cleared || held.failed == Some(false));
        for (slot, target) in settled.targets.iter().enumerate() {
            self.names.add(target.path.file_name());
            let file = self.enter(&target.path);
            held.files.push(file);
            held.stale.push(None);
            held.protected_file |= setup.options.protected.file(target.path.as_str());
            if !counts {
                continue;
            }
            let kind = match target.access {
                Access::Read(range) => EventKind::Read {
                    range,
                    whole: tier == Tier::Kept,
                },
                Access::Mutate => EventKind::Mutate,
            };
            self.files[file as usize].enter(Event {
                result: ordinal,
                slot: slot as u32,
                file,
                called_at,
                kind,
            });
            self.touched(file);
        }
        if setup.options.dedupe_calls
            && tier == Tier::Kept
            && let Some(said) = settled.same_as
        {
            held.said = Some((key, said));
            if let Some(earlier) = self.said.insert((key, said), ordinal) {
                self.results[earlier as usize].duplicate = Some(ordinal);
            }
        }
        held.targets = settled.targets;
    }

    /// The staleness of this file's reads is to be worked out again.
    fn touched(&mut self, file: FileId) {
        mark_dirty(&mut self.files, &mut self.dirty, file);
        for alias in self.paths.aliases(file) {
            mark_dirty(&mut self.files, &mut self.dirty, alias.file);
        }
    }

    fn hold(&mut self, held: Held) {
        if held.children.is_some() {
            self.envoys.push(self.results.len() as Ordinal);
        }
        if held.tier() != Tier::Cleared {
            self.live.push(self.results.len() as Ordinal);
        }
        self.results.push(held);
    }

    /// Sizes, the recorded or recognised tier, the truncated form, the children.
    fn measure(&mut self, view: &ResultView<'_>) -> Held {
        let degraded = view.degraded.or_else(|| recognise(view.text));
        let text = self.weigh(view.text);
        let media: usize = view.media.iter().map(|media| media.tokens).sum();
        let media = media_size(media);
        self.size += media;
        let options = &self.setup.options;
        let whole = degraded.is_none() && view.media.is_empty();
        let large = whole && text.chars >= TRUNCATE_MIN_CHARS;
        let over = options.rewrite == RewriteRule::AppendOnly
            && whole
            && text.chars > options.unsent_cap_chars.max(TRUNCATE_MIN_CHARS);
        let capped = over.then(|| cut_to(view.text, text.chars, options.unsent_cap_chars).into());
        Held {
            size: text + media,
            degraded,
            media: view.media.iter().map(without_payload).collect(),
            truncated: large.then(|| truncated(view.text, text.chars).into()),
            capped,
            children: self.envoy(view.children),
            ..Held::default()
        }
    }

    fn envoy(&mut self, children: &[Message]) -> Option<Box<Planner>> {
        if children.is_empty() || self.depth >= MAX_DEPTH {
            return None;
        }
        let mut child = Planner::at_depth(self.setup.clone(), self.depth + 1);
        child.push_messages(children);
        self.size += child.size;
        Some(Box::new(child))
    }

    fn enter(&mut self, path: &crate::touch::FilePath) -> u32 {
        let file = self.paths.enter(path, self.pos);
        while self.files.len() < self.paths.len() {
            self.files.push(Ledger::default());
        }
        file
    }
}

/// The original's size as a placeholder tells it, for a result that is still whole.
pub(super) fn original_size(held: &Held) -> Degraded {
    held.degraded.unwrap_or(Degraded {
        tier: Tier::Kept,
        lines: Some(held.size.lines),
        chars: held.size.chars - media_chars(&held.media),
    })
}

fn media_chars(media: &[Media]) -> usize {
    media
        .iter()
        .map(|media| media.tokens * CHARS_PER_TOKEN)
        .sum()
}

fn media_size(tokens: usize) -> Measure {
    Measure {
        chars: tokens * CHARS_PER_TOKEN,
        lines: 0,
        tokens,
    }
}

fn without_payload(media: &Media) -> Media {
    Media {
        payload: Vec::new(),
        ..*media
    }
}
