//! What holds of every document of every format, and a terse picture of one for tests to compare.
//! Deliberately knows no format.

use std::fmt::Write as _;

use neenee_core::pressure::view::View;
use neenee_wire::{Document, Edit, Format};

/// Reads as `format`, which must also be what is recognised.
#[track_caller]
pub(crate) fn read(bytes: &[u8], format: Format) -> Document<'_> {
    assert_eq!(neenee_wire::detect(bytes), Some(format), "not recognised");
    match neenee_wire::read(bytes, Some(format)) {
        Ok(document) => document,
        Err(error) => panic!("failed to read {format}: {error}"),
    }
}

/// The window, a line per view: `user`, `  text hi`, `  call c1 read {"path":"a"}`, `  result c1 text`.
pub(crate) fn picture(document: &Document<'_>) -> String {
    let mut out = String::new();
    for view in document.views() {
        let _ = match view {
            View::Message(role) => writeln!(out, "{}", format!("{role:?}").to_lowercase()),
            View::Cwd(path) => writeln!(out, "  cwd {path}"),
            View::Text(text) => writeln!(out, "  text {text:?}"),
            View::Reasoning { text, signed } => {
                let signed = if signed { " signed" } else { "" };
                writeln!(out, "  reasoning{signed} {text:?}")
            }
            View::Opaque(json) => writeln!(out, "  opaque {}", json.replace('\n', "⏎")),
            View::Weight { tokens } => writeln!(out, "  weight {tokens}"),
            View::Call(call) => writeln!(
                out,
                "  call {} {} {}",
                call.id.unwrap_or("-"),
                call.name,
                call.arguments.replace('\n', "⏎")
            ),
            View::Result(result) => {
                let _ = write!(out, "  result {}", result.call_id.unwrap_or("-"));
                if let Some(name) = result.name {
                    let _ = write!(out, " {name}");
                }
                if let Some(failed) = result.failed {
                    let _ = write!(out, " {}", if failed { "failed" } else { "succeeded" });
                }
                if let Some(status) = result.exit_status {
                    let _ = write!(out, " exit {status}");
                }
                for media in result.media {
                    let _ = write!(out, " [{} {} bytes]", media.kind, media.bytes);
                }
                if !result.children.is_empty() {
                    let _ = write!(out, " ({} children)", result.children.len());
                }
                writeln!(out, " {:?}", result.text)
            }
        };
    }
    out
}

/// The picture with the text and media of results left out: what a splice must not change.
pub(crate) fn shape(document: &Document<'_>) -> String {
    let mut out = String::new();
    for (view, line) in document.views().zip(picture(document).lines()) {
        match view {
            View::Result(result) => {
                let _ = writeln!(
                    out,
                    "  result {:?} {:?} {:?} {:?}",
                    result.call_id, result.name, result.failed, result.exit_status
                );
            }
            _ => {
                let _ = writeln!(out, "{line}");
            }
        }
    }
    out
}

/// Without edits the bytes are the input's. With each result replaced in turn and all at once, what is
/// read back differs in the replaced texts only, and the bytes only inside of the slots.
#[track_caller]
pub(crate) fn splices(bytes: &[u8], format: Format) {
    let document = read(bytes, format);
    assert!(document.splice(&[]).unwrap() == bytes, "changed by no edit");
    let content = |ordinal: usize| format!("[cleared \"{ordinal}\" é\n\\]");
    let contents: Vec<String> = (0..document.results().len()).map(content).collect();
    let all: Vec<Edit<'_>> = contents
        .iter()
        .enumerate()
        .map(|(ordinal, content)| Edit { ordinal, content })
        .collect();
    replaced(&document, &all);
    // One at a time shows an edit that reaches over its slot; a few are enough in a long session.
    for edit in all.iter().take(3) {
        replaced(&document, &[*edit]);
    }
}

#[track_caller]
fn replaced(document: &Document<'_>, edits: &[Edit<'_>]) {
    let bytes = document.splice(edits).unwrap();
    let again = match neenee_wire::read(&bytes, Some(document.format())) {
        Ok(again) => again,
        Err(error) => panic!("failed to read back: {error}"),
    };
    assert_eq!(
        neenee_wire::detect(&bytes),
        Some(document.format()),
        "no longer recognised"
    );
    let (before, after) = (shape(document), shape(&again));
    if before != after {
        let differs = before
            .lines()
            .zip(after.lines())
            .find(|(before, after)| before != after);
        panic!("the shape changed: {differs:?}");
    }
    let texts = |document: &Document<'_>| -> Vec<(String, usize)> {
        document
            .views()
            .filter_map(|view| match view {
                View::Result(result) => Some((result.text.to_owned(), result.media.len())),
                _ => None,
            })
            .collect()
    };
    for (ordinal, (old, new)) in texts(document).iter().zip(texts(&again)).enumerate() {
        match edits.iter().find(|edit| edit.ordinal == ordinal) {
            Some(edit) => assert_eq!((edit.content, 0), (&*new.0, new.1), "result {ordinal}"),
            None => assert_eq!(*old, new, "result {ordinal} was not edited"),
        }
    }
}
