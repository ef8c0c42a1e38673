//! Path-like tokens in text: which words of a message may name a file.
//! Deliberately not what they name; the path index knows the files.

use super::paths::{PathIndex, Pos};

/// Notes in `index` every known file that `text` refers to.
///
/// One pass over the bytes. A token is a run without white space, quotes, brackets and the like;
/// a quoted run is one token as well, since paths have spaces, and only where that names no known
/// file are its words looked at one by one.
pub(crate) fn refer_text(index: &mut PathIndex, filter: &NameFilter, text: &str, pos: Pos) {
    let bytes = text.as_bytes();
    let mut start = 0;
    let mut seen = 0;
    while start <= bytes.len() {
        let mut at = start;
        while let Some(byte) = bytes.get(at)
            && CLASS[usize::from(*byte)] < GAP
        {
            seen |= CLASS[usize::from(*byte)];
            at += 1;
        }
        if filter.may_name(&bytes[start..at], seen) {
            refer_token(index, filter, &text[start..at], seen & HIGH == 0, pos);
        }
        start = at + 1;
        seen = 0;
        if bytes.get(at).map(|byte| CLASS[usize::from(*byte)]) == Some(QUOTE)
            && let Some(run) = quoted_run(bytes, at)
            && refer_quoted(index, filter, &text[run.clone()], pos)
        {
            start = run.end + 1;
        }
    }
}

/// Notes what the string values of a call's JSON `arguments` refer to; free text is read as text.
pub(crate) fn refer_arguments(
    index: &mut PathIndex,
    filter: &NameFilter,
    arguments: &str,
    pos: Pos,
) {
    let bytes = arguments.as_bytes();
    if !matches!(arguments.trim_start().bytes().next(), Some(b'{' | b'[')) {
        return refer_text(index, filter, arguments, pos);
    }
    let mut at = 0;
    let mut decoded = String::new();
    while let Some(open) = memchr::memchr(b'"', &bytes[at..]) {
        let open = at + open + 1;
        let mut close = open;
        let mut escaped = false;
        while let Some(next) = memchr::memchr2(b'"', b'\\', &bytes[close..]) {
            close += next;
            if bytes[close] == b'"' {
                break;
            }
            escaped = true;
            close = (close + 2).min(bytes.len());
        }
        let close = if bytes.get(close) == Some(&b'"') {
            close
        } else {
            bytes.len()
        };
        let raw = &arguments[open..close];
        if escaped {
            unescape(raw, &mut decoded);
            refer_value(index, filter, &decoded, pos);
        } else {
            refer_value(index, filter, raw, pos);
        }
        at = (close + 1).min(bytes.len());
    }
}

/// Two bytes at the end of every known file name: nearly all words of a text fall through it,
/// before anything is hashed.
#[derive(Clone, Debug)]
pub(crate) struct NameFilter {
    bits: Box<[u64; 1024]>,
}

impl Default for NameFilter {
    fn default() -> Self {
        NameFilter {
            bits: Box::new([0; 1024]),
        }
    }
}

impl NameFilter {
    pub(crate) fn add(&mut self, name: &str) {
        let key = tail_key(name.as_bytes());
        self.bits[key / 64] |= 1 << (key % 64);
    }

    fn may_end(&self, token: &[u8]) -> bool {
        let key = tail_key(token);
        self.bits[key / 64] & (1 << (key % 64)) != 0
    }

    /// Whether `token`, in which bytes of the classes `seen` stand, is worth a look. A word without `#`
    /// that ends in a letter, punctuation aside, ends there; nearly every word is refused here.
    #[inline]
    fn may_name(&self, token: &[u8], seen: u8) -> bool {
        let mut word = token;
        while let Some((b'.' | b':' | b'/' | b'\\', rest)) = word.split_last() {
            word = rest;
        }
        match word.last() {
            None => false,
            Some(last) if seen == 0 && last.is_ascii_alphabetic() => self.may_end(word),
            Some(_) => true,
        }
    }
}

fn tail_key(bytes: &[u8]) -> usize {
    match bytes {
        [.., a, b] => usize::from(*a) << 8 | usize::from(*b),
        [b] => usize::from(*b),
        [] => 0,
    }
}

/// Classes of bytes: within a word, as bits, or between words.
const HASH: u8 = 1;
const HIGH: u8 = 2;
const GAP: u8 = 4;
const QUOTE: u8 = 5;

/// Bytes of multi-byte chars are word bytes: file names are in every language.
const CLASS: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        if byte <= b' ' as usize || byte == 0x7f {
            table[byte] = GAP;
        } else if byte >= 0x80 {
            table[byte] = HIGH;
        }
        byte += 1;
    }
    let gaps = b"()[]{}<>|,;=*?$&!";
    let mut i = 0;
    while i < gaps.len() {
        table[gaps[i] as usize] = GAP;
        i += 1;
    }
    table[b'#' as usize] = HASH;
    table[b'"' as usize] = QUOTE;
    table[b'\'' as usize] = QUOTE;
    table[b'`' as usize] = QUOTE;
    table
};

/// How long a quoted run may be to count as one path, in bytes.
const MAX_QUOTED_BYTES: usize = 512;

fn quoted_run(bytes: &[u8], open: usize) -> Option<std::ops::Range<usize>> {
    let start = open + 1;
    let end = (start + MAX_QUOTED_BYTES).min(bytes.len());
    let close = memchr::memchr2(bytes[open], b'\n', &bytes[start..end])?;
    (close > 0 && bytes[start + close] == bytes[open]).then_some(start..start + close)
}

/// A whole string value: one token when it names a known file, else its words.
fn refer_value(index: &mut PathIndex, filter: &NameFilter, value: &str, pos: Pos) {
    if value.len() > MAX_QUOTED_BYTES || !refer_quoted(index, filter, value, pos) {
        refer_text(index, filter, value, pos);
    }
}

fn refer_quoted(index: &mut PathIndex, filter: &NameFilter, run: &str, pos: Pos) -> bool {
    let seen = if memchr::memchr(b'#', run.as_bytes()).is_some() {
        HASH
    } else {
        0
    };
    if !filter.may_name(run.as_bytes(), seen) {
        return false;
    }
    let token = peel(run);
    let known = filter.may_end(token.as_bytes()) && index.knows_name(file_name(token));
    if known {
        index.refer(token, pos);
    }
    known
}

fn refer_token(index: &mut PathIndex, filter: &NameFilter, token: &str, ascii: bool, pos: Pos) {
    if !ascii {
        return refer_unspaced(index, filter, token, pos);
    }
    let token = peel(token);
    if filter.may_end(token.as_bytes()) && index.knows_name(file_name(token)) {
        index.refer(token, pos);
    }
}

/// Scripts that set no spaces run a name into the words around it, so every change between ASCII
/// and other letters may be where it begins or ends, as may their own punctuation.
fn refer_unspaced(index: &mut PathIndex, filter: &NameFilter, token: &str, pos: Pos) {
    let punctuation = |c: char| !c.is_ascii() && !c.is_alphanumeric() && !is_mark(c);
    for part in token.split(punctuation) {
        let mut ascii_start = 0;
        let mut was_ascii = true;
        for (at, c) in part.char_indices() {
            if c.is_ascii() != was_ascii {
                was_ascii = c.is_ascii();
                if was_ascii {
                    ascii_start = at;
                } else {
                    refer_candidates(index, filter, &part[..at], ascii_start, pos);
                }
            }
        }
        refer_candidates(
            index,
            filter,
            part,
            if was_ascii { ascii_start } else { 0 },
            pos,
        );
    }
}

fn refer_candidates(
    index: &mut PathIndex,
    filter: &NameFilter,
    part: &str,
    ascii_start: usize,
    pos: Pos,
) {
    for candidate in [part, &part[ascii_start..]] {
        let token = peel(candidate);
        if token.len() <= MAX_QUOTED_BYTES
            && filter.may_end(token.as_bytes())
            && index.knows_name(file_name(token))
        {
            return index.refer(token, pos);
        }
    }
}

/// Combining marks belong to the letter before them.
fn is_mark(c: char) -> bool {
    matches!(c, '\u{300}'..='\u{36f}' | '\u{610}'..='\u{6ed}' | '\u{900}'..='\u{e4d}'
        | '\u{1ab0}'..='\u{1aff}' | '\u{200c}'..='\u{200d}' | '\u{20d0}'..='\u{20ff}'
        | '\u{3099}'..='\u{309a}' | '\u{fe00}'..='\u{fe0f}')
}

fn file_name(token: &str) -> &str {
    token.rsplit(['/', '\\']).next().unwrap_or(token)
}

/// Takes off what surrounds a path in prose: punctuation behind it, an `@` of mention before it,
/// a scheme, a line suffix (`:42`, `:42:7`, `:10-20`, `#L10-L20`).
fn peel(token: &str) -> &str {
    let mut token = token.trim();
    token = token.strip_prefix("file://").unwrap_or(token);
    token = token.trim_start_matches(['@', '+', '-', '~']);
    loop {
        let shorter = token.trim_end_matches(['.', ':', '?', '/', '\\']);
        let shorter = match shorter.rfind([':', '#']) {
            Some(at) if at > 1 && is_line_suffix(&shorter[at + 1..]) => &shorter[..at],
            _ => shorter,
        };
        if shorter.len() == token.len() {
            return token;
        }
        token = shorter;
    }
}

fn is_line_suffix(text: &str) -> bool {
    text.bytes().any(|b| b.is_ascii_digit())
        && text
            .bytes()
            .all(|b| b.is_ascii_digit() || matches!(b, b'L' | b'C' | b'-' | b','))
}

/// Decodes JSON escapes as far as paths need it; what is malformed stays as it stands.
fn unescape(raw: &str, out: &mut String) {
    out.clear();
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'\\', rest.as_bytes()) {
        out.push_str(&rest[..at]);
        let escape = &rest[at + 1..];
        let Some(kind) = escape.chars().next() else {
            out.push('\\');
            return;
        };
        let mut used = kind.len_utf8();
        match kind {
            'n' | 'r' | 't' | 'b' | 'f' => out.push('\n'),
            'u' => match escape
                .get(1..5)
                .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            {
                Some(code) => {
                    used = 5;
                    out.push(char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER));
                }
                None => out.push('u'),
            },
            other => out.push(other),
        }
        rest = &escape[used..];
    }
    out.push_str(rest);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::touch::FilePath;

    fn refers(target: &str, text: &str, read: fn(&mut PathIndex, &NameFilter, &str, Pos)) -> bool {
        let mut index = PathIndex::default();
        let mut filter = NameFilter::default();
        let path = FilePath::new(target, None).unwrap();
        let file = index.enter(&path, 0);
        filter.add(path.file_name());
        read(&mut index, &filter, text, 1);
        index.referred_at(file).is_some()
    }

    #[test]
    fn text_refers_to_what_it_names_and_to_nothing_else() {
        let yes = [
            ("a.rs", "look at a.rs"),
            ("a.rs", "look at a.rs."),
            ("a.rs", "(a.rs:42) and"),
            ("a.rs", "a.rs:42:7: error"),
            ("a.rs", "see `a.rs`"),
            ("a.rs", "[the file](src/a.rs#L10)"),
            ("a.rs", "**a.rs**"),
            ("src/a.rs", "--file=src/a.rs"),
            ("my file.rs", "open \"my file.rs\" now"),
            ("a.rs", "run `cat a.rs | head`"),
            ("a.rs", "it's in a.rs, isn't it"),
            ("a.rs", "@a.rs"),
            ("日本.md", "「日本.md」を見て"),
            ("日本.md", "日本.mdを見て"),
            ("a.rs", "请看a.rs的main函数"),
            ("a.rs", "（src/a.rs：42）"),
            ("é.rs", "“é.rs”"),
            ("e\u{301}.rs", "see e\u{301}.rs now"),
            ("Makefile", "the Makefile says"),
            ("src/a.rs", "C:\\repo\\src\\a.rs"),
            ("a.rs", "a.rs"),
            ("x", "x"),
        ];
        for (target, text) in yes {
            assert!(refers(target, text, refer_text), "{target} in {text}");
        }
        let no = [
            ("a.rs", "look at mya.rs"),
            ("a.rs", "a.rss"),
            ("lib.rs", "mylib.rs and lib.rsx"),
            ("src/a.rs", "other/a.rs"),
            ("a.rs", ""),
            ("a.rs", "a . rs"),
        ];
        for (target, text) in no {
            assert!(!refers(target, text, refer_text), "{target} in {text}");
        }
    }

    #[test]
    fn arguments_are_read_value_by_value() {
        let yes = [
            ("src/a.rs", r#"{"path":"src/a.rs"}"#),
            ("a.rs", r#"{"command":"cat \"src/a.rs\" | head"}"#),
            ("a.rs", r#"{"command":"echo x\nsed -n 1,2p a.rs"}"#),
            ("my file.rs", r#"{"path":"C:\\x\\my file.rs"}"#),
            ("é.rs", r#"{"path":"\u00e9.rs"}"#),
            ("a.rs", "*** Update File: src/a.rs"),
            ("a.rs", r#"{"path":"a.rs"#),
        ];
        for (target, text) in yes {
            assert!(refers(target, text, refer_arguments), "{target} in {text}");
        }
        assert!(!refers("a.rs", r#"{"a.rsx":"b.rs\\"}"#, refer_arguments));
        assert!(!refers("a.rs", r#"{"x":"\"#, refer_arguments));
    }
}
