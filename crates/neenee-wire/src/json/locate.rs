//! Where in a file a byte is, for people: line, column and JSON path.
//! Deliberately not kept while scanning: it is worked out again, from the start, once something is wrong.

use std::fmt::Write as _;

use super::scan::skip_space;

/// A place in the input.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    /// 1-based.
    pub(crate) line: usize,
    /// 1-based, in bytes.
    pub(crate) column: usize,
    /// `messages[3].content`; empty at the root.
    pub(crate) path: String,
}

/// The place of byte `at`. `root` is where the value that holds it begins: the start of its line in
/// a file of lines, else 0.
pub(crate) fn locate(bytes: &[u8], root: usize, at: usize) -> Place {
    let at = at.min(bytes.len());
    let before = &bytes[..at];
    let line_start = memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1);
    Place {
        line: memchr::memchr_iter(b'\n', before).count() + 1,
        column: at - line_start + 1,
        path: path(&bytes[..at], root.min(at)),
    }
}

enum Step {
    Index(usize),
    Key(String),
}

/// The path of the value that is open where `bytes` ends. All of it has been scanned before and is
/// well formed up to its end, or the end is where the scanner stopped.
fn path(bytes: &[u8], mut at: usize) -> String {
    let mut steps: Vec<Step> = Vec::new();
    let mut key_next = false;
    while let Some(&byte) = bytes.get(at) {
        at += 1;
        match byte {
            b'{' => {
                steps.push(Step::Key(String::new()));
                key_next = true;
            }
            b'[' => {
                steps.push(Step::Index(0));
                key_next = false;
            }
            b'}' | b']' => {
                steps.pop();
                key_next = false;
            }
            b',' => match steps.last_mut() {
                Some(Step::Index(index)) => *index += 1,
                Some(Step::Key(_)) => key_next = true,
                None => {}
            },
            b'"' => {
                let start = at;
                while let Some(&byte) = bytes.get(at) {
                    match byte {
                        b'"' => break,
                        b'\\' => at += 2,
                        _ => at += 1,
                    }
                }
                let end = at.min(bytes.len());
                at = end + 1;
                if key_next && bytes.get(skip_space(bytes, at)) == Some(&b':') {
                    let key = String::from_utf8_lossy(&bytes[start..end]).into_owned();
                    if let Some(Step::Key(last)) = steps.last_mut() {
                        *last = key;
                    }
                    key_next = false;
                }
            }
            _ => {}
        }
    }
    let mut path = String::new();
    for step in &steps {
        match step {
            Step::Index(index) => {
                let _ = write!(path, "[{index}]");
            }
            Step::Key(key) if key.is_empty() => {}
            Step::Key(key) => {
                let plain = key.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
                if !plain {
                    let _ = write!(path, "[\"{key}\"]");
                } else if path.is_empty() {
                    path.push_str(key);
                } else {
                    let _ = write!(path, ".{key}");
                }
            }
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_named_as_people_write_them() {
        let text = "{\"messages\": [{}, {\n  \"role\": \"user\", \"a-b\": {\"c\\\"\": [1, @";
        let place = locate(text.as_bytes(), 0, text.len() - 1);
        assert_eq!(place.line, 2);
        assert_eq!(place.path, r#"messages[1]["a-b"]["c\""][1]"#);
        let role = text.find("\"user\"").unwrap();
        let place = locate(text.as_bytes(), 0, role);
        assert_eq!((place.line, place.column), (2, 11));
        assert_eq!(place.path, "messages[1].role");
    }
}
