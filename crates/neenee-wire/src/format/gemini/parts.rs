//! The parts of a content: text, thoughts, calls, responses, media; how a response is replaced.
//! Deliberately not whose they are: a body and a session file say that differently.

use std::borrow::Cow;
use std::collections::HashSet;

use neenee_core::message::{Media, MediaKind};
use neenee_core::model::ImageRule;

use crate::document::{Draft, ResultItem};
use crate::error::Fault;
use crate::json::{Kind, Value};
use crate::media::media;
use crate::slot::Site;

/// What Gemini's newest models count for pictures, where no model is named.
pub(crate) const RULE: ImageRule = ImageRule::GEMINI_3;

/// What stands in place of a signature where there is none.
const NO_SIGNATURE: &str = "skip_thought_signature_validator";

/// Reads parts one by one.
pub(crate) struct Parts<'a> {
    images: ImageRule,
    /// The ids of the calls so far: not every client writes them on both sides.
    ids: HashSet<Cow<'a, str>>,
}

impl<'a> Parts<'a> {
    pub(crate) fn new(images: ImageRule) -> Self {
        Parts {
            images,
            ids: HashSet::new(),
        }
    }

    pub(crate) fn read(&mut self, draft: &mut Draft<'a>, part: Value<'_, 'a>) -> Result<(), Fault> {
        // Clients allow a string in place of a part of text.
        if let Some(text) = part.decode() {
            draft.text(text);
            return Ok(());
        }
        let [text, thought, signature, call, response] = part.fields([
            "text",
            "thought",
            "thoughtSignature",
            "functionCall",
            "functionResponse",
        ]);
        let signature = signature
            .and_then(Value::decode)
            .filter(|signature| !signature.is_empty() && signature != NO_SIGNATURE);
        let text = text.and_then(Value::decode);
        if thought.and_then(Value::bool) == Some(true) {
            draft.reasoning(text.unwrap_or_default(), signature.is_some());
            return Ok(());
        }
        if signature.is_some() {
            // What is signed stands in another part, or is not told at all.
            draft.reasoning(Cow::Borrowed(""), true);
        }
        if let Some(text) = text {
            if let Some(cwd) = workspace(&text) {
                draft.cwd(Cow::Owned(cwd.to_owned()));
            }
            draft.text(text);
        } else if let Some(call) = call {
            self.call(draft, call)?;
        } else if let Some(response) = response {
            let found = Response::read(response, self.images)?;
            self.answer(draft, found, None);
        } else if let Some(media) = self.media(part) {
            draft.weight(media.tokens);
        } else {
            draft.opaque(Cow::Borrowed(part.raw()));
        }
        Ok(())
    }

    pub(crate) fn call(&mut self, draft: &mut Draft<'a>, call: Value<'_, 'a>) -> Result<(), Fault> {
        let [id, name, args] = call.fields(["id", "name", "args"]);
        let name = name
            .ok_or_else(|| Fault::shape(call.start(), "a call with a field `name`"))?
            .want_string("the name of a function, which is a string")?;
        let id = id.and_then(Value::decode);
        self.ids.extend(id.clone());
        let args = args.map_or("", Value::raw);
        draft.call(id, name.decode(), Cow::Borrowed(args));
        Ok(())
    }

    /// Adds a response as a result. `failed` is what the session's own record says, where it has one.
    pub(crate) fn answer(&self, draft: &mut Draft<'a>, found: Response<'a>, failed: Option<bool>) {
        // An id that no call has is as good as none: then name and order pair the two.
        let call_id = found.id.filter(|id| self.ids.contains(id));
        draft.result(
            ResultItem {
                call_id,
                name: found.name,
                text: found.text,
                media: found.media,
                failed: found.failed.or(failed),
                ..ResultItem::default()
            },
            found.range,
            found.site,
        );
        for json in found.unknown {
            draft.opaque(Cow::Borrowed(json));
        }
    }

    pub(crate) fn media(&self, part: Value<'_, '_>) -> Option<Media> {
        part_media(part, self.images)
    }
}

/// One `functionResponse`.
pub(crate) struct Response<'a> {
    pub(crate) id: Option<Cow<'a, str>>,
    name: Option<Cow<'a, str>>,
    text: Cow<'a, str>,
    media: Vec<Media>,
    failed: Option<bool>,
    unknown: Vec<&'a str>,
    range: std::ops::Range<usize>,
    pub(crate) site: Site,
}

impl<'a> Response<'a> {
    /// `response.output` or `response.error` where there is one, else all of `response`, of which `output` is
    /// made when it is replaced. Media stand in `parts`, which is emptied then.
    pub(crate) fn read(value: Value<'_, 'a>, images: ImageRule) -> Result<Self, Fault> {
        value.want_object("a function response, which is an object")?;
        let [id, name, response, parts] = value.fields(["id", "name", "response", "parts"]);
        let mut found = match response {
            Some(response) => Self::of_response(response),
            None => Response::new(
                Cow::Borrowed(""),
                value.start()..value.start(),
                Site {
                    before: Cow::Borrowed("\"response\":{\"output\":\""),
                    after: Cow::Borrowed("\"},"),
                    ..Site::within(value.start() + 1..value.start() + 1, 1)
                },
            ),
        };
        found.id = id.and_then(Value::decode).filter(|id| !id.is_empty());
        found.name = name.and_then(Value::decode);
        if let Some(parts) = parts.filter(|parts| parts.is_array()) {
            for part in parts.items() {
                match part_media(part, images) {
                    Some(media) => found.media.push(media),
                    None => found.unknown.push(part.raw()),
                }
            }
            if !found.media.is_empty() {
                found.unknown.clear();
                found.site.also.push((parts.range(), "[]".to_owned()));
            }
        }
        Ok(found)
    }

    fn of_response(response: Value<'_, 'a>) -> Self {
        let [output, error] = response.fields(["output", "error"]);
        let (said, failed) = match (output, error) {
            (Some(output), None) => (Some(output), None),
            (_, Some(error)) if !error.is_null() => (Some(error), Some(true)),
            (output, _) => (output, None),
        };
        if let Some(text) = said.and_then(Value::string) {
            let mut found = Response::new(text.decode(), text.range(), Site::string(text));
            found.failed = failed;
            let rest = response.entries().filter(|(_, value)| {
                value.range() != (text.range().start - 1..text.range().end + 1)
            });
            found.unknown = rest.map(|(_, value)| value.raw()).collect();
            return found;
        }
        let site = Site::value(response, "{\"output\":", "}");
        let text = match response.kind() {
            Kind::String => response.decode().unwrap_or_default(),
            _ => Cow::Borrowed(response.raw()),
        };
        let mut found = Response::new(text, response.range(), site);
        found.failed = failed;
        found
    }

    fn new(text: Cow<'a, str>, range: std::ops::Range<usize>, site: Site) -> Self {
        Response {
            id: None,
            name: None,
            text,
            media: Vec::new(),
            failed: None,
            unknown: Vec::new(),
            range,
            site,
        }
    }
}

fn part_media(part: Value<'_, '_>, images: ImageRule) -> Option<Media> {
    let [inline, snake, file] = part.fields(["inlineData", "inline_data", "fileData"]);
    let holder = inline.or(snake).or(file)?;
    let [camel, snake, data] = holder.fields(["mimeType", "mime_type", "data"]);
    let mime = camel.or(snake).and_then(Value::decode).unwrap_or_default();
    let kind = match mime.split('/').next() {
        Some("image") => MediaKind::Image,
        Some("audio") => MediaKind::Audio,
        Some("application" | "text") => MediaKind::Document,
        _ => MediaKind::Other,
    };
    let data = data.and_then(Value::string).map(|data| data.raw());
    Some(media(kind, data, images))
}

/// The working directory that the client tells the model at the start.
fn workspace(text: &str) -> Option<&str> {
    if !text.starts_with("<session_context>") && !text.starts_with("This is the Gemini CLI") {
        return None;
    }
    let (_, list) = text.split_once("Workspace Directories:")?;
    let line = list
        .lines()
        .find(|line| line.trim_start().starts_with("- "))?;
    Some(line.trim().trim_start_matches("- ").trim())
}
