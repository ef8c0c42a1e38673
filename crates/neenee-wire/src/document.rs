//! A conversation as read: its window as views, where its results stand, what lies outside of it.
//! Deliberately not editable: edits go through [`Document::splice`], which returns new bytes.

use std::borrow::Cow;

use neenee_core::message::{Degraded, Media, Message, Role};
use neenee_core::pressure::view::{CallView, ResultView, View};

use crate::error::Warning;
use crate::format::Format;
use crate::slot::{ResultSlot, Site};

/// A conversation that was read from bytes. It borrows them: nothing that is plain in the input is copied.
#[derive(Debug)]
pub struct Document<'a> {
    pub(crate) bytes: &'a [u8],
    pub(crate) format: Format,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) draft: Draft<'a>,
}

impl<'a> Document<'a> {
    /// The format it was read as.
    pub fn format(&self) -> Format {
        self.format
    }

    /// The model that the input names; of several the last.
    pub fn model(&self) -> Option<&str> {
        self.draft.model.as_deref()
    }

    /// The window, in the order in which the model sees it.
    pub fn views(&self) -> impl Iterator<Item = View<'_>> {
        self.draft.items.iter().map(|item| self.draft.view(item))
    }

    /// The places of the results; the ordinal of a result is its position here, which is the order
    /// of [`View::Result`] in [`Document::views`].
    pub fn results(&self) -> &[ResultSlot] {
        &self.draft.slots
    }

    /// What is known about each message, in the order of [`View::Message`].
    pub fn messages(&self) -> &[MessageInfo] {
        &self.draft.messages
    }

    /// What the input holds that is not part of the window, and is neither counted nor touched.
    pub fn outside(&self) -> &[Outside] {
        &self.draft.outside
    }

    /// What was carried without being understood.
    pub fn warnings(&self) -> &[Warning] {
        &self.warnings
    }
}

/// What the input tells of a message besides what it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MessageInfo {
    /// Who speaks.
    pub role: Role,
    /// When it was recorded, in ms since the epoch (UTC).
    pub timestamp: Option<i64>,
    /// What the provider reported for the request that this message answers.
    pub usage: Option<Usage>,
}

/// Tokens that a provider reported for one request. `None` where it did not say.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Usage {
    /// Input tokens that were neither read from a cache nor written to one.
    pub input: Option<u64>,
    /// Input tokens read from a cache.
    pub cache_read: Option<u64>,
    /// Input tokens written to a cache.
    pub cache_write: Option<u64>,
    /// Output tokens.
    pub output: Option<u64>,
}

/// A kind of content outside the window: copies, other conversations, history.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// What it is, in a few words.
    pub what: &'static str,
    /// How many of them.
    pub count: usize,
    /// Their bytes in the input.
    pub bytes: usize,
}

/// A result as a codec found it; the owned side of [`ResultView`].
#[derive(Debug, Default)]
pub(crate) struct ResultItem<'a> {
    pub(crate) call_id: Option<Cow<'a, str>>,
    pub(crate) name: Option<Cow<'a, str>>,
    pub(crate) text: Cow<'a, str>,
    pub(crate) media: Vec<Media>,
    pub(crate) failed: Option<bool>,
    pub(crate) exit_status: Option<i32>,
    pub(crate) degraded: Option<Degraded>,
    pub(crate) children: Vec<Message>,
}

/// What a codec fills, in the order of the window.
#[derive(Debug, Default)]
pub(crate) struct Draft<'a> {
    model: Option<Cow<'a, str>>,
    cwd: Option<Cow<'a, str>>,
    items: Vec<Item<'a>>,
    messages: Vec<MessageInfo>,
    results: Vec<ResultItem<'a>>,
    slots: Vec<ResultSlot>,
    outside: Vec<Outside>,
    /// Where the fields that a rewrite rule merges into stand; only for formats that have them.
    pub(crate) anchors: Option<crate::insert::Anchors>,
}

#[derive(Debug)]
enum Item<'a> {
    Message(Role),
    Cwd(Cow<'a, str>),
    Text(Cow<'a, str>),
    Reasoning {
        text: Cow<'a, str>,
        signed: bool,
    },
    Opaque(Cow<'a, str>),
    Weight {
        tokens: usize,
    },
    Call {
        id: Option<Cow<'a, str>>,
        name: Cow<'a, str>,
        arguments: Cow<'a, str>,
    },
    Result {
        ordinal: usize,
    },
}

impl<'a> Draft<'a> {
    /// The model's name; called again, the last one stays.
    pub(crate) fn model(&mut self, name: Cow<'a, str>) {
        if !name.is_empty() {
            self.model = Some(name);
        }
    }

    /// The model's name as far as it is known by now.
    pub(crate) fn named_model(&self) -> Option<&str> {
        self.model.as_deref()
    }

    /// A message begins. What follows belongs to it.
    pub(crate) fn message(&mut self, role: Role) {
        self.items.push(Item::Message(role));
        self.messages.push(MessageInfo {
            role,
            timestamp: None,
            usage: None,
        });
    }

    /// What is known about the message that began last; `None` before the first.
    pub(crate) fn info(&mut self) -> Option<&mut MessageInfo> {
        self.messages.last_mut()
    }

    /// What is known about the last message of that role.
    pub(crate) fn info_of(&mut self, role: Role) -> Option<&mut MessageInfo> {
        self.messages
            .iter_mut()
            .rev()
            .find(|info| info.role == role)
    }

    /// How many messages have begun.
    pub(crate) fn message_count(&self) -> usize {
        self.messages.len()
    }

    /// The working directory, when it is another than before.
    pub(crate) fn cwd(&mut self, path: Cow<'a, str>) {
        if self.cwd.as_ref() != Some(&path) {
            self.cwd = Some(path.clone());
            self.items.push(Item::Cwd(path));
        }
    }

    pub(crate) fn text(&mut self, text: Cow<'a, str>) {
        if !text.is_empty() {
            self.items.push(Item::Text(text));
        }
    }

    pub(crate) fn reasoning(&mut self, text: Cow<'a, str>, signed: bool) {
        self.items.push(Item::Reasoning { text, signed });
    }

    pub(crate) fn opaque(&mut self, json: Cow<'a, str>) {
        self.items.push(Item::Opaque(json));
    }

    pub(crate) fn weight(&mut self, tokens: usize) {
        self.items.push(Item::Weight { tokens });
    }

    pub(crate) fn call(
        &mut self,
        id: Option<Cow<'a, str>>,
        name: Cow<'a, str>,
        arguments: Cow<'a, str>,
    ) {
        self.items.push(Item::Call {
            id,
            name,
            arguments,
        });
    }

    /// A result. `range` is its content in the input, for people; `site` is how it is replaced.
    pub(crate) fn result(
        &mut self,
        result: ResultItem<'a>,
        range: std::ops::Range<usize>,
        site: Site,
    ) {
        self.items.push(Item::Result {
            ordinal: self.results.len(),
        });
        self.results.push(result);
        self.slots.push(ResultSlot {
            message: self.messages.len().saturating_sub(1),
            range,
            site,
        });
    }

    /// Counts one more piece of content outside the window.
    pub(crate) fn outside(&mut self, what: &'static str, bytes: usize) {
        match self.outside.iter_mut().find(|outside| outside.what == what) {
            Some(outside) => {
                outside.count += 1;
                outside.bytes += bytes;
            }
            None => self.outside.push(Outside {
                what,
                count: 1,
                bytes,
            }),
        }
    }

    fn view<'d>(&'d self, item: &'d Item<'a>) -> View<'d> {
        match item {
            Item::Message(role) => View::Message(*role),
            Item::Cwd(path) => View::Cwd(path),
            Item::Text(text) => View::Text(text),
            Item::Reasoning { text, signed } => View::Reasoning {
                text,
                signed: *signed,
            },
            Item::Opaque(json) => View::Opaque(json),
            Item::Weight { tokens } => View::Weight { tokens: *tokens },
            Item::Call {
                id,
                name,
                arguments,
            } => View::Call(CallView {
                id: id.as_deref(),
                name,
                arguments,
            }),
            Item::Result { ordinal } => {
                let result = &self.results[*ordinal];
                View::Result(ResultView {
                    call_id: result.call_id.as_deref(),
                    name: result.name.as_deref(),
                    text: &result.text,
                    media: &result.media,
                    failed: result.failed,
                    exit_status: result.exit_status,
                    degraded: result.degraded,
                    children: &result.children,
                })
            }
        }
    }
}
