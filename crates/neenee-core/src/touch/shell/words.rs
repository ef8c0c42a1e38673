//! What a word of a command line means once its quotes are gone.
//! Deliberately no expansion that asks the machine: a word with a substitution, a pattern or an unknown variable means nothing here.

use std::borrow::Cow;

/// A word, or `None` where only a running shell could tell.
pub(super) type Word<'a> = Option<Cow<'a, str>>;

/// Variables whose values the command line itself has set, the newest last; `None` for one set to what is unknown.
#[derive(Debug, Default, Clone)]
pub(super) struct Variables(Vec<(String, Option<String>)>);

impl Variables {
    pub(super) fn set(&mut self, name: &str, value: Option<String>) {
        if self.0.len() < MAX_VARIABLES {
            self.0.push((name.to_owned(), value));
        } else {
            // Better to know none than a stale one.
            self.0.clear();
        }
    }

    fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().rev().find(|(known, _)| known == name)?;
        found.1.as_deref()
    }
}

/// More than any command line sets; it bounds the search.
const MAX_VARIABLES: usize = 64;

/// The meaning of the raw text of a word.
pub(super) fn expand<'a>(raw: &'a str, variables: &Variables) -> Word<'a> {
    let special = |b: u8| {
        matches!(
            b,
            b'\'' | b'"' | b'\\' | b'$' | b'`' | b'*' | b'?' | b'{' | b'~' | b'<' | b'>' | b'('
        )
    };
    if !raw.bytes().any(special) {
        return Some(Cow::Borrowed(raw));
    }
    let mut text = String::with_capacity(raw.len());
    let mut chars = raw.char_indices().peekable();
    let mut quoted = false;
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' if !quoted => loop {
                match chars.next()? {
                    (_, '\'') => break,
                    (_, inner) => text.push(inner),
                }
            },
            '"' => quoted = !quoted,
            '\\' => match chars.next()?.1 {
                '\n' => {}
                next if quoted && !matches!(next, '$' | '`' | '"' | '\\') => {
                    text.push('\\');
                    text.push(next);
                }
                next => text.push(next),
            },
            '`' => return None,
            '$' => {
                let (length, value) = dollar(&raw[at + 1..], quoted, variables)?;
                text.push_str(&value);
                while chars
                    .peek()
                    .is_some_and(|(next, _)| *next < at + 1 + length)
                {
                    chars.next();
                }
            }
            '*' | '?' | '<' | '>' | '(' if !quoted => return None,
            '{' if !quoted && raw[at..].contains([',', '.']) && raw[at..].contains('}') => {
                return None;
            }
            // Another user's home folder is known to the machine alone.
            '~' if !quoted && at == 0 && raw.len() > 1 && !raw.starts_with("~/") => return None,
            other => text.push(other),
        }
    }
    Some(Cow::Owned(text))
}

/// What `$…` stands for, and how many bytes it takes behind the `$`.
fn dollar<'a>(
    rest: &'a str,
    quoted: bool,
    variables: &'a Variables,
) -> Option<(usize, Cow<'a, str>)> {
    if let Some(ansi) = rest.strip_prefix('\'').filter(|_| !quoted) {
        return ansi_c(ansi).map(|(length, value)| (length + 2, Cow::Owned(value)));
    }
    let (name, length) = match rest.strip_prefix('{') {
        Some(braced) => {
            let end = braced.find('}')?;
            (&braced[..end], end + 2)
        }
        None => {
            let end = rest
                .bytes()
                .take_while(|b| b.is_ascii_alphanumeric() || *b == b'_')
                .count();
            (&rest[..end], end)
        }
    };
    if name.is_empty() {
        // A lone `$`, as at the end of a pattern.
        let lone = rest.is_empty() || rest.starts_with([' ', '"', '/', '|']);
        return lone.then_some((0, Cow::Borrowed("$")));
    }
    if name == "HOME" {
        return Some((length, Cow::Borrowed("~")));
    }
    variables
        .get(name)
        .map(|value| (length, Cow::Borrowed(value)))
}

/// `$'…'` up to its quote: the text, and how long it was written.
fn ansi_c(text: &str) -> Option<(usize, String)> {
    let mut value = String::new();
    let mut chars = text.char_indices();
    while let Some((at, c)) = chars.next() {
        match c {
            '\'' => return Some((at, value)),
            '\\' => match chars.next()?.1 {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                quote @ ('\\' | '\'' | '"' | '?') => value.push(quote),
                _ => return None,
            },
            other => value.push(other),
        }
    }
    None
}
