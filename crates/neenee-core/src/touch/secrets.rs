//! Masks what looks like a secret in text that a person or a model will read again.
//! Deliberately a guess by form, one pass and no dictionary: better a word too many than a password too few.

use std::borrow::Cow;
use std::ops::Range;

/// What stands in place of a secret.
const MASK: &str = "***";

/// `text` with what looks like a secret replaced by `***`: API keys and tokens by their published prefixes (OpenAI,
/// Anthropic, GitHub, GitLab, AWS, Google, Slack, npm, PyPI, Hugging Face, Stripe and others), JSON web tokens,
/// private keys, `Authorization` headers, passwords in URLs, and the values of options, assignments and
/// query arguments whose name says password, token, secret or key. Linear in the text.
#[must_use]
pub fn mask_secrets(text: &str) -> Cow<'_, str> {
    let found = find(text);
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut masked = String::with_capacity(text.len());
    let mut done = 0;
    for secret in found {
        masked.push_str(&text[done..secret.start]);
        masked.push_str(MASK);
        done = secret.end;
    }
    masked.push_str(&text[done..]);
    Cow::Owned(masked)
}

/// How the published forms of keys begin, and how many more characters they have at least.
const PREFIXES: [(&str, usize); 38] = [
    ("sk-", 16),
    ("sk_live_", 10),
    ("sk_test_", 10),
    ("rk_live_", 10),
    ("rk_test_", 10),
    ("pk_live_", 10),
    ("whsec_", 10),
    ("ghp_", 16),
    ("gho_", 16),
    ("ghu_", 16),
    ("ghs_", 16),
    ("ghr_", 16),
    ("github_pat_", 16),
    ("glpat-", 16),
    ("gldt-", 16),
    ("xoxa-", 10),
    ("xoxb-", 10),
    ("xoxp-", 10),
    ("xoxs-", 10),
    ("xoxr-", 10),
    ("xapp-", 10),
    ("AKIA", 12),
    ("ASIA", 12),
    ("AIza", 30),
    ("ya29.", 20),
    ("npm_", 30),
    ("pypi-", 30),
    ("hf_", 20),
    ("gsk_", 20),
    ("xai-", 20),
    ("dop_v1_", 20),
    ("shpat_", 20),
    ("lin_api_", 20),
    ("sbp_", 20),
    ("dckr_pat_", 16),
    ("SG.", 40),
    ("AGE-SECRET-KEY-", 20),
    ("eyJ", 20),
];

/// Whether a published form has this byte first or second: most words are told from a key by the two.
const OPENS_A_KEY: [[bool; 256]; 2] = {
    let mut table = [[false; 256]; 2];
    let mut at = 0;
    while at < PREFIXES.len() {
        let prefix = PREFIXES[at].0.as_bytes();
        table[0][prefix[0] as usize] = true;
        table[1][prefix[1] as usize] = true;
        at += 1;
    }
    table
};

/// Words that a name contains when its value is a secret.
const SECRET_WORDS: [&str; 17] = [
    "password",
    "passwd",
    "passphrase",
    "secret",
    "token",
    "apikey",
    "api_key",
    "api-key",
    "access_key",
    "access-key",
    "accesskey",
    "private_key",
    "private-key",
    "credential",
    "auth_key",
    "authkey",
    "signature",
];

/// Names that are secrets when they stand alone before their value.
const SECRET_NAMES: [&str; 6] = ["pwd", "pass", "pw", "sig", "pat", "cookie"];

fn find(text: &str) -> Vec<Range<usize>> {
    let bytes = text.as_bytes();
    let mut found: Vec<Range<usize>> = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if bytes[at] == b'-' && text[at..].starts_with("-----BEGIN ") {
            let end = private_key(text, at);
            if let Some(secret) = end {
                at = secret.end;
                found.push(secret);
                continue;
            }
        }
        if bytes[at] == b':' && bytes[at..].starts_with(b"://") {
            at += 3;
            if let Some(secret) = user_info(text, at) {
                at = secret.end;
                found.push(secret);
            }
            continue;
        }
        if !is_word(bytes[at]) {
            at += 1;
            continue;
        }
        let end = at + bytes[at..].iter().take_while(|b| is_word(**b)).count();
        let word = &text[at..end];
        let secret = key(text, at, word).or_else(|| value_of(text, at..end));
        match secret {
            Some(secret) => {
                at = secret.end;
                found.push(secret);
            }
            None => at = end,
        }
    }
    found
}

fn is_word(byte: u8) -> bool {
    const WORD: [bool; 256] = {
        let mut table = [false; 256];
        let mut byte = 0;
        while byte < 256 {
            let b = byte as u8;
            table[byte] = b.is_ascii_alphanumeric() || b == b'_' || b == b'-';
            byte += 1;
        }
        table
    };
    WORD[usize::from(byte)]
}

/// A key by its published form, its prefix left to be seen.
fn key(text: &str, at: usize, word: &str) -> Option<Range<usize>> {
    // Options such as `-ghp_…` glue the key to a dash or two.
    let dashes = word.len() - word.trim_start_matches('-').len();
    let bare = &word[dashes..];
    let [first, second, ..] = bare.as_bytes() else {
        return None;
    };
    if !OPENS_A_KEY[0][usize::from(*first)] || !OPENS_A_KEY[1][usize::from(*second)] {
        return None;
    }
    let (prefix, least) = PREFIXES.iter().find(|(prefix, _)| {
        if prefix.as_bytes()[0] != *first {
            return false;
        }
        let dotted = prefix.ends_with('.');
        bare.starts_with(prefix.trim_end_matches('.'))
            && (!dotted || text[at + dashes..].starts_with(prefix))
    })?;
    let start = at + dashes + prefix.len();
    let rest = text.as_bytes().get(start..)?;
    let length = rest
        .iter()
        .take_while(|b| is_word(**b) || matches!(b, b'.' | b'+' | b'/' | b'='))
        .count();
    let token = &text[start..start + length];
    let is_long = token.len() >= *least
        && token
            .bytes()
            .any(|b| b.is_ascii_digit() || b.is_ascii_uppercase());
    // `eyJ` opens any JSON object in base64; a web token has three parts.
    let is_token = *prefix != "eyJ" || token.matches('.').count() >= 1;
    (is_long && is_token).then_some(start..start + length)
}

/// The value that follows a name which says that it is secret.
fn value_of(text: &str, word: Range<usize>) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let name = &text[word.clone()];
    let dashes = name.len() - name.trim_start_matches('-').len();
    let after = bytes.get(word.end).copied();
    // Almost every word is told from a name with a value by what follows it.
    let may_have_value = match after {
        Some(b'=' | b':' | b'"' | b'\'' | b'\\') => true,
        Some(b' ') => dashes > 0 || name.len() <= "bearer".len(),
        _ => dashes == 1,
    };
    if !may_have_value {
        return None;
    }
    let bare = name[dashes..].to_ascii_lowercase();
    let before = word.start.checked_sub(1).map(|before| bytes[before]);

    if matches!(bare.as_str(), "bearer" | "basic") && after == Some(b' ') {
        let least = if bare == "basic" { 12 } else { 8 };
        return value(text, word.end + 1).filter(|value| value.len() >= least);
    }
    if matches!(bare.as_str(), "authorization" | "proxy-authorization") {
        let start = after_separator(text, word.end)?;
        let start = skip_scheme(text, start);
        return value(text, start);
    }
    if dashes == 1 {
        return short_option(text, word, &bare);
    }
    let in_query = matches!(before, Some(b'?' | b'&'));
    let is_secret = SECRET_WORDS.iter().any(|secret| bare.contains(secret))
        && !bare.contains("tokens")
        && !bare.contains("tokeniz")
        || SECRET_NAMES.contains(&bare.as_str())
        || (in_query && matches!(bare.as_str(), "key" | "code" | "auth"));
    if !is_secret {
        return None;
    }
    if dashes == 2 && after == Some(b' ') {
        return value(text, word.end + 1).filter(|value| !text[value.clone()].starts_with('-'));
    }
    let colon = after_colon(text, word.end);
    let start = after_separator(text, word.end)?;
    let value = value(text, start)?;
    let is_plain_word = text[value.clone()].bytes().all(|b| b.is_ascii_alphabetic());
    // `token: String` is a type, `password: hunter2` is not; `PWD=/home/x` is where one stands.
    let is_innocent =
        (colon && is_plain_word) || (bare == "pwd" && text[value.clone()].starts_with('/'));
    (!is_innocent).then_some(value)
}

/// Options of one letter mean a password only to some commands.
fn short_option(text: &str, word: Range<usize>, bare: &str) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let before = &text[..word.start];
    // The command is near: looking back over the whole text for each option would not be linear.
    let mut near = before.len().saturating_sub(120);
    while !before.is_char_boundary(near) {
        near += 1;
    }
    let before = &before[near..];
    let names = |commands: &[&str]| commands.iter().any(|command| before.contains(command));
    let next = || value(text, word.end + 1).filter(|_| bytes.get(word.end) == Some(&b' '));
    match bare.as_bytes() {
        [b'p', _, ..] if names(&["mysql", "mariadb"]) => value(text, word.start + 2),
        [b'p'] if names(&["sshpass", "login"]) => next(),
        [b'a'] if names(&["redis-cli"]) => next(),
        [b'u'] if names(&["curl", "http", "wget"]) => {
            let value = next()?;
            let colon = text[value.clone()].find(':')?;
            Some(value.start + colon + 1..value.end).filter(|secret| !secret.is_empty())
        }
        _ => None,
    }
}

/// Where the value starts behind `=`, `:` or `": "`.
fn after_separator(text: &str, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = end;
    if matches!(bytes.get(at), Some(b'"' | b'\'' | b'\\')) {
        at += 1 + usize::from(bytes.get(at) == Some(&b'\\'));
    }
    if !matches!(bytes.get(at), Some(b'=' | b':')) {
        return None;
    }
    at += 1;
    while bytes.get(at) == Some(&b' ') {
        at += 1;
    }
    Some(at)
}

fn after_colon(text: &str, end: usize) -> bool {
    text[end..]
        .trim_start_matches(['"', '\'', '\\'])
        .starts_with(':')
}

/// Behind `Bearer `, `Basic `, `token ` and the like.
fn skip_scheme(text: &str, start: usize) -> usize {
    let rest = &text[start..];
    let word = rest.bytes().take_while(u8::is_ascii_alphabetic).count();
    let scheme = word > 0 && rest.as_bytes().get(word) == Some(&b' ') && rest.len() > word + 1;
    if scheme { start + word + 1 } else { start }
}

/// The value at `start`, inside its quotes if it has some; `None` for a variable, which shows nothing.
fn value(text: &str, start: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let mut start = start;
    while bytes.get(start) == Some(&b'\\') {
        start += 1;
    }
    let quote = bytes
        .get(start)
        .copied()
        .filter(|b| matches!(b, b'"' | b'\''));
    if quote.is_some() {
        start += 1;
    }
    let rest = bytes.get(start..)?;
    let length = rest.iter().position(|b| match quote {
        Some(quote) => *b == quote,
        None => {
            b.is_ascii_whitespace()
                || matches!(
                    b,
                    b'"' | b'\'' | b'&' | b';' | b'|' | b')' | b'}' | b',' | b'`' | b'<' | b'>'
                )
        }
    });
    let end = start + length.unwrap_or(rest.len());
    let is_variable = matches!(rest.first(), Some(b'$' | b'%' | b'{'));
    (end > start && !is_variable).then_some(start..end)
}

/// The password in `user:password@host`, or a long token in place of both.
fn user_info(text: &str, start: usize) -> Option<Range<usize>> {
    let rest = &text.as_bytes()[start..];
    let end = rest.iter().position(|b| {
        b.is_ascii_whitespace() || matches!(b, b'/' | b'"' | b'\'' | b'?' | b'#' | b'@')
    })?;
    if rest[end] != b'@' {
        return None;
    }
    let info = &text[start..start + end];
    match info.find(':') {
        Some(colon) if colon + 1 < info.len() && !info[colon + 1..].starts_with('$') => {
            Some(start + colon + 1..start + end)
        }
        Some(_) => None,
        None => (info.len() >= 20 && !info.starts_with('$')).then_some(start..start + end),
    }
}

/// What follows `-----BEGIN … PRIVATE KEY-----`, to its end or to the end of the text.
fn private_key(text: &str, at: usize) -> Option<Range<usize>> {
    let header = text
        .get(at..(at + 60).min(text.len()))
        .or_else(|| text.get(at..))?;
    let close = header.find("PRIVATE KEY-----")? + "PRIVATE KEY-----".len();
    let start = at + close;
    let end = text[start..]
        .find("-----END")
        .map_or(text.len(), |end| start + end);
    (end > start).then_some(start..end)
}
