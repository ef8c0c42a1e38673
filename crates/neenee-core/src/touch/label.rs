//! What a call is called where its result has gone: the tool and the argument that says most.
//! Deliberately short and on one line: it stands in a placeholder, in tables and in logs.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;

use super::secrets::mask_secrets;

/// How many chars of the argument a label shows.
const MAX_CHARS: usize = 60;

/// How many bytes of the argument are looked at. A secret that begins within the label must be seen to
/// be one; none has to be seen whole for that.
const MAX_LOOK: usize = 1024;

/// A tool's name and its salient argument: on one line, control characters dropped, secrets masked, and then
/// at most 60 chars of the argument, never cut inside a grapheme, `…` included where it was cut.
#[must_use]
pub fn label(name: &str, salient: Option<&str>) -> String {
    let name = one_line(cut(name, MAX_LOOK));
    let name = shortened(&name);
    let Some(salient) = salient else {
        return name.into_owned();
    };
    let looked_at = cut(salient, MAX_LOOK);
    let line = one_line(looked_at);
    let masked = mask_secrets(&line);
    let mut label = String::with_capacity(name.len() + masked.len().min(4 * MAX_CHARS) + 1);
    label.push_str(&name);
    let shown = if looked_at.len() < salient.len() {
        shorten(&masked, MAX_CHARS, true)
    } else {
        shortened(&masked)
    };
    if !shown.is_empty() {
        label.push(' ');
        label.push_str(&shown);
    }
    label
}

/// The label of a call on several files: the first one and how many more.
pub(super) fn label_of_paths(name: &str, first: &str, more: usize) -> String {
    let mut label = label(name, Some(first));
    if more > 0 {
        label.push_str(&format!(" +{more}"));
    }
    label
}

fn shortened(text: &str) -> Cow<'_, str> {
    shorten(text, MAX_CHARS, false)
}

fn shorten(text: &str, max: usize, more_follows: bool) -> Cow<'_, str> {
    if !more_follows && (text.len() <= max || text.chars().count() <= max) {
        return text.into();
    }
    let mut chars = 0;
    let mut end = 0;
    for grapheme in text.graphemes(true) {
        chars += grapheme.chars().count();
        if chars > max - 1 {
            break;
        }
        end += grapheme.len();
    }
    format!("{}…", text[..end].trim_end()).into()
}

/// At most `max` bytes, ending between chars.
fn cut(text: &str, max: usize) -> &str {
    if text.len() <= max {
        return text;
    }
    let mut end = max;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

/// White space folded to single spaces, control and formatting characters dropped.
fn one_line(text: &str) -> Cow<'_, str> {
    let is_plain = |pair: &[u8]| pair[0] >= b' ' && pair[0] < 0x7f && pair != b"  ";
    let bytes = text.as_bytes();
    let ends = [bytes.first(), bytes.last()];
    if bytes.windows(2).all(is_plain) && ends.iter().flatten().all(|b| b.is_ascii_graphic()) {
        return Cow::Borrowed(text);
    }
    let mut line = String::with_capacity(text.len());
    let mut space = false;
    for c in text.chars() {
        if c.is_whitespace() {
            space = !line.is_empty();
        } else if !is_hidden(c) {
            if space {
                line.push(' ');
                space = false;
            }
            line.push(c);
        }
    }
    Cow::Owned(line)
}

/// Control characters, and the marks that turn the direction of what follows or have no width. The joiners
/// inside emoji and scripts stay: without them the text would read differently.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200B}' | '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}')
}
