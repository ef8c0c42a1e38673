//! Names of files as tools and shells spell them, brought to one spelling.
//! Deliberately lexical: no file system is asked, so links and letter case stay as they are.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// Longer than any path a system accepts (Linux `PATH_MAX` is 4096 bytes): text that is no path.
const MAX_BYTES: usize = 4096;

/// The name of one file, lexically normalised: `\` is `/`, `./`, `//` and `a/../` are folded, a drive
/// letter is lower-case, `file://` is peeled off, and a relative name is resolved against the working
/// directory where that is known. Two equal `FilePath`s are the same file; whether an absolute and a relative
/// one are depends on what else was seen, so it is not decided here.
#[derive(Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FilePath(Arc<str>);

impl FilePath {
    /// Normalises `raw`, resolving it against `base` (a directory) when it is relative.
    ///
    /// `None` for what names no file: an empty name, `.`, `/`, a directory by its trailing slash or dots, a URL
    /// other than `file://`, a glob pattern, a name with control characters or over 4096 bytes.
    #[must_use]
    pub fn new(raw: &str, base: Option<&str>) -> Option<Self> {
        let raw = raw.trim();
        if raw.is_empty() || raw.len() > MAX_BYTES {
            return None;
        }
        let decoded;
        let raw = match strip_prefix_ignore_case(raw, "file://") {
            Some(rest) => {
                decoded = peel_file_url(rest)?;
                decoded.as_str()
            }
            None => raw,
        };
        let raw = strip_verbatim_prefix(raw);
        let raw = raw.as_ref();
        if raw.bytes().any(|b| b < 0x20 || b == b'*' || b == b'?') || raw.contains("://") {
            return None;
        }
        if raw.contains('{') && raw.contains('}') && raw.contains(',') {
            return None;
        }
        if raw.ends_with(is_separator) || matches!(last_component(raw), "." | ".." | "-" | "~") {
            return None;
        }

        let mut path = Builder::default();
        if !path.root(raw, base)
            && let Some(base) = base.filter(|base| base.len() <= MAX_BYTES)
        {
            path.root(base, None);
            path.push_all(base);
        }
        path.push_all(raw);
        path.finish()
    }

    /// The normalised name, with `/` between components.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the name starts at a root: `/…`, `//server/…`, `c:/…`, or at a home folder, `~/…`.
    #[must_use]
    pub fn is_absolute(&self) -> bool {
        let bytes = self.0.as_bytes();
        bytes[0] == b'/' || self.0.starts_with("~/") || drive(&self.0).is_some()
    }

    /// The last component.
    #[must_use]
    pub fn file_name(&self) -> &str {
        last_component(&self.0)
    }

    /// The components from the first to the last; an absolute name starts with `""` or with its drive, `"c:"`.
    pub fn components(&self) -> impl DoubleEndedIterator<Item = &str> {
        // A server name starts with two slashes: one empty component says "from a root" as well as two.
        let text = self
            .0
            .strip_prefix('/')
            .filter(|rest| rest.starts_with('/'));
        text.unwrap_or(&self.0).split('/')
    }
}

impl fmt::Debug for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.0, f)
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A directory below `base`, as `cd` would find it; `None` when `raw` is empty.
pub(super) fn directory(raw: &str, base: Option<&str>) -> Option<String> {
    // Any name below the directory resolves the directory itself.
    let probe = format!("{}/x", raw.trim_end_matches(is_separator));
    let path = FilePath::new(&probe, base)?;
    let text = path.as_str();
    Some(match text.rsplit_once('/') {
        Some(("", _)) => "/".to_owned(),
        Some((directory, _)) => directory.to_owned(),
        None => ".".to_owned(),
    })
}

/// A path under construction: a root that `..` cannot leave, then components.
#[derive(Default)]
struct Builder {
    text: String,
    /// How much of `text` is the root, which `..` leaves alone.
    root: usize,
    absolute: bool,
}

impl Builder {
    /// Starts at the root that `raw` names, if it names one. `base` tells whether this is a machine with drives.
    fn root(&mut self, raw: &str, base: Option<&str>) -> bool {
        let bytes = raw.as_bytes();
        if let Some(letter) = drive(raw) {
            self.text.push(letter);
            self.text.push(':');
        } else if bytes.len() > 2
            && is_separator(bytes[0] as char)
            && is_separator(bytes[1] as char)
            && !is_separator(bytes[2] as char)
        {
            self.text.push('/');
        } else if bytes.first().is_some_and(|b| is_separator(*b as char)) {
            // Shells on Windows spell `C:\x` as `/c/x`; the working directory tells that this is one.
            if let (Some(letter), Some(_)) = (unix_drive(raw), base.and_then(drive)) {
                self.text.push(letter);
                self.text.push(':');
            }
        } else if bytes.starts_with(b"~/") || bytes.starts_with(b"~\\") {
            self.text.push('~');
        } else {
            return false;
        }
        self.root = self.text.len();
        self.absolute = true;
        true
    }

    /// Adds the components of `raw` behind its root.
    fn push_all(&mut self, raw: &str) {
        let skip = match () {
            () if drive(raw).is_some() => 2,
            () if raw.starts_with("~/") || raw.starts_with("~\\") => 1,
            () if self.text.ends_with(':') && unix_drive(raw).is_some() && self.root == 2 => 2,
            () => 0,
        };
        for component in raw[skip..].split(is_separator) {
            self.push(component);
        }
    }

    fn push(&mut self, component: &str) {
        match component {
            "" | "." => {}
            ".." => {
                let kept = &self.text[self.root..];
                let last = kept.rfind('/').map_or(self.root, |at| self.root + at);
                let leaves_upwards = kept.is_empty()
                    || kept.trim_start_matches('/') == ".."
                    || kept.ends_with("/..");
                if !leaves_upwards {
                    self.text.truncate(last);
                } else if !self.absolute || self.text.starts_with('~') {
                    // Above a home folder lies what only that machine knows, so the dots stay.
                    self.append("..");
                }
            }
            name => self.append(name),
        }
    }

    fn append(&mut self, name: &str) {
        if self.absolute || self.text.len() > self.root {
            self.text.push('/');
        }
        self.text.push_str(name);
    }

    fn finish(self) -> Option<FilePath> {
        let names_a_file = self.text.len() > self.root
            && self.text.len() <= MAX_BYTES
            && last_component(&self.text) != "..";
        names_a_file.then(|| FilePath(self.text.into()))
    }
}

fn is_separator(c: char) -> bool {
    c == '/' || c == '\\'
}

fn last_component(text: &str) -> &str {
    text.rsplit(is_separator).next().unwrap_or(text)
}

/// The lower-case letter of `C:/` or `c:\`.
fn drive(text: &str) -> Option<char> {
    match text.as_bytes() {
        [letter, b':', rest @ ..] if letter.is_ascii_alphabetic() => {
            let rooted = rest.first().is_none_or(|b| is_separator(*b as char));
            rooted.then(|| letter.to_ascii_lowercase() as char)
        }
        _ => None,
    }
}

/// The lower-case letter of `/c/`.
fn unix_drive(text: &str) -> Option<char> {
    match text.as_bytes() {
        [b'/', letter, b'/', ..] if letter.is_ascii_alphabetic() => {
            Some(letter.to_ascii_lowercase() as char)
        }
        _ => None,
    }
}

/// `\\?\C:\x` is `C:\x` without the shell's limits, and `\\?\UNC\server\x` is `\\server\x`.
fn strip_verbatim_prefix(raw: &str) -> Cow<'_, str> {
    let Some(rest) = raw
        .strip_prefix(r"\\?\")
        .or_else(|| raw.strip_prefix("//?/"))
    else {
        return Cow::Borrowed(raw);
    };
    match strip_prefix_ignore_case(rest, "UNC") {
        Some(server) if server.starts_with(is_separator) => Cow::Owned(format!("/{server}")),
        _ => Cow::Borrowed(rest),
    }
}

/// `///home/x` and `///C:/x` of a `file:` URL, its percent escapes decoded; `None` when they are not UTF-8.
fn peel_file_url(rest: &str) -> Option<String> {
    let rest = strip_prefix_ignore_case(rest, "localhost").unwrap_or(rest);
    let rest = match rest.strip_prefix('/') {
        Some(local) if drive(local).is_some() => local,
        _ => rest,
    };
    let bytes = rest.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len() + 2);
    if !rest.starts_with('/') && drive(rest).is_none() {
        decoded.extend_from_slice(b"//");
    }
    let mut at = 0;
    while at < bytes.len() {
        let escape = (bytes[at] == b'%')
            .then(|| rest.get(at + 1..at + 3))
            .flatten()
            .filter(|hex| hex.bytes().all(|b| b.is_ascii_hexdigit()))
            .and_then(|hex| u8::from_str_radix(hex, 16).ok());
        match escape {
            Some(byte) => {
                decoded.push(byte);
                at += 3;
            }
            None => {
                decoded.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8(decoded).ok()
}

fn strip_prefix_ignore_case<'a>(text: &'a str, prefix: &str) -> Option<&'a str> {
    let head = text.get(..prefix.len())?;
    head.eq_ignore_ascii_case(prefix)
        .then(|| &text[prefix.len()..])
}

/// Whether a directory's name starts at a root.
pub(super) fn is_rooted(directory: &str) -> bool {
    directory.starts_with(['/', '~']) || drive(directory).is_some()
}
