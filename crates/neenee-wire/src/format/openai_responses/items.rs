//! The items of a Responses conversation: messages, reasoning, calls; Codex keeps the same ones.
//! Deliberately not their order or which of them count: that is the body's or the session file's.

use std::borrow::Cow;

use neenee_core::message::{Media, MediaKind, Role};
use neenee_core::model::ImageRule;

use super::output;
use crate::content::Dialect;
use crate::document::Draft;
use crate::error::Fault;
use crate::json::{Kind, Value};
use crate::media::media;

/// Parts of a message, as of a tool's output.
pub(crate) const DIALECT: Dialect = Dialect {
    text_types: &["input_text", "output_text", "text"],
    media_fields: &[
        "image_url",
        "file_id",
        "detail",
        "file_data",
        "file_url",
        "filename",
    ],
    media: part_media,
    images: ImageRule::GPT_PATCHES,
};

/// Whether a value may be an item: a message, or something that says its type.
pub(super) fn is_item(item: Value<'_, '_>) -> bool {
    let [kind, role, content] = item.fields(["type", "role", "content"]);
    match kind {
        Some(kind) => {
            kind.is_string() && (role.is_none() || !kind.is("message") || content.is_some())
        }
        None => role.is_some_and(Value::is_string) && content.is_some(),
    }
}

/// Whether it is an item that only this format has.
pub(super) fn is_marked(item: Value<'_, '_>) -> bool {
    let [kind, content] = item.fields(["type", "content"]);
    let kind = kind.and_then(Value::decode).unwrap_or_default();
    match &*kind {
        "message" | "" => content.into_iter().flat_map(Value::items).any(|part| {
            let kind = part.get("type").and_then(Value::decode).unwrap_or_default();
            matches!(
                &*kind,
                "input_text" | "output_text" | "input_image" | "input_file"
            )
        }),
        "reasoning" | "item_reference" | "compaction" => true,
        other => other.ends_with("_call") || other.ends_with("_call_output"),
    }
}

/// Reads items one by one into messages: what the model says between two others is one message, and
/// so are the outputs that follow each other.
pub(crate) struct Items<'d> {
    dialect: &'d Dialect,
    speaking: Option<Role>,
}

impl<'d> Items<'d> {
    pub(crate) fn new(dialect: &'d Dialect) -> Self {
        Items {
            dialect,
            speaking: None,
        }
    }

    /// A message begins whoever spoke before.
    pub(crate) fn begin(&mut self, draft: &mut Draft<'_>, role: Role) {
        draft.message(role);
        self.speaking = Some(role);
    }

    fn speak(&mut self, draft: &mut Draft<'_>, role: Role) {
        if self.speaking != Some(role) {
            self.begin(draft, role);
        }
    }

    pub(crate) fn read<'a>(
        &mut self,
        draft: &mut Draft<'a>,
        item: Value<'_, 'a>,
    ) -> Result<(), Fault> {
        item.want_object("an item, which is an object")?;
        let kind = item.get("type").and_then(Value::decode);
        match kind.as_deref() {
            Some("message") | None => self.message(draft, item),
            Some("reasoning") => {
                self.speak(draft, Role::Assistant);
                read_reasoning(draft, item);
                Ok(())
            }
            Some(kind) if output::is_output(kind) => {
                self.speak(draft, Role::Tool);
                output::read(draft, item, kind, self.dialect)
            }
            Some(kind) => {
                self.speak(draft, Role::Assistant);
                read_call(draft, item, kind);
                Ok(())
            }
        }
    }

    fn message<'a>(&mut self, draft: &mut Draft<'a>, item: Value<'_, 'a>) -> Result<(), Fault> {
        let [role, content] = item.fields(["role", "content"]);
        let role = role
            .ok_or_else(|| Fault::shape(item.start(), "an item with a field `type` or `role`"))?
            .want_string("the role of a message, which is a string")?;
        match &*role.decode() {
            "system" | "developer" => self.begin(draft, Role::System),
            "assistant" => self.speak(draft, Role::Assistant),
            // A role that nobody knows still weighs.
            _ => self.begin(draft, Role::User),
        }
        let Some(content) = content else {
            return Ok(());
        };
        match content.kind() {
            Kind::String => draft.text(content.decode().unwrap_or_default()),
            Kind::Array => content.items().for_each(|part| self.part(draft, part)),
            Kind::Null => {}
            _ => {
                return Err(Fault::shape(
                    content.start(),
                    "the content of a message: a string or an array of parts",
                ));
            }
        }
        Ok(())
    }

    fn part<'a>(&self, draft: &mut Draft<'a>, part: Value<'_, 'a>) {
        let [text, refusal] = part.fields(["text", "refusal"]);
        if let Some(text) = text.or(refusal).and_then(Value::decode) {
            draft.text(text);
        } else if let Some(media) = self.dialect.media(part) {
            draft.weight(media.tokens);
        } else {
            draft.opaque(Cow::Borrowed(part.raw()));
        }
    }
}

/// The summary or the text where there is one, else what is encrypted.
fn read_reasoning<'a>(draft: &mut Draft<'a>, item: Value<'_, 'a>) {
    let [summary, content, encrypted] = item.fields(["summary", "content", "encrypted_content"]);
    let encrypted = encrypted
        .and_then(Value::decode)
        .filter(|text| !text.is_empty());
    let signed = encrypted.is_some();
    let mut parts = [content, summary]
        .into_iter()
        .flatten()
        .flat_map(Value::items);
    let text = parts.by_ref().find_map(|part| part.get("text")?.decode());
    let Some(mut text) = text else {
        if let Some(encrypted) = encrypted {
            draft.reasoning(encrypted, true);
        }
        return;
    };
    for more in parts.filter_map(|part| part.get("text")?.decode()) {
        text.to_mut().push('\n');
        text.to_mut().push_str(&more);
    }
    draft.reasoning(text, signed);
}

/// Calls of functions and of the tools that the caller runs; those that the provider runs carry their own
/// outcome, which nobody may edit.
fn read_call<'a>(draft: &mut Draft<'a>, item: Value<'_, 'a>, kind: &str) {
    let [call_id, id, name] = item.fields(["call_id", "id", "name"]);
    let (tool, arguments) = match kind {
        "function_call" => (None, item.get("arguments")),
        "custom_tool_call" => (None, item.get("input")),
        "local_shell_call" => (Some("local_shell"), item.get("action")),
        "shell_call" => (Some("shell"), item.get("action")),
        "apply_patch_call" => (Some("apply_patch"), item.get("operation")),
        _ => {
            draft.opaque(Cow::Borrowed(item.raw()));
            return;
        }
    };
    let name = name.and_then(Value::decode).or(tool.map(Cow::Borrowed));
    let arguments = arguments.map_or(Cow::Borrowed(""), |arguments| {
        arguments.decode().unwrap_or(Cow::Borrowed(arguments.raw()))
    });
    draft.call(
        call_id.or(id).and_then(Value::decode),
        name.unwrap_or(Cow::Borrowed("tool")),
        arguments,
    );
}

fn part_media(part: Value<'_, '_>, images: ImageRule) -> Option<Media> {
    let kind = part.get("type")?.decode()?;
    let (kind, data) = match &*kind {
        // Codex's older files write `image_url` as Chat Completions does.
        "input_image" | "image_url" | "computer_screenshot" => {
            let url = part.get("image_url");
            let url = url.and_then(|url| {
                if url.is_object() {
                    url.get("url")
                } else {
                    Some(url)
                }
            });
            (MediaKind::Image, url)
        }
        "input_audio" => (MediaKind::Audio, part.at(&["input_audio", "data"])),
        "input_file" => (MediaKind::Document, part.get("file_data")),
        _ => return None,
    };
    let data = data.and_then(Value::string).map(|data| data.raw());
    Some(media(kind, data, images))
}
