//! The scanner: rejects what is not JSON, by byte, and writes the tape.
//! Deliberately not recursive: depth is data here, so no input can overflow the stack.

use super::Token;
use crate::error::{Fault, ReadErrorKind};

/// Deepest nesting of arrays and objects that is read. Real bodies stay under 30.
const MAX_DEPTH: usize = 512;

/// Scans one value, appends its tokens and returns the offset one past it.
pub(super) fn scan(bytes: &[u8], at: usize, tokens: &mut Vec<Token>) -> Result<usize, Fault> {
    let mut open: Vec<u32> = Vec::with_capacity(16);
    let mut at = at;
    'value: loop {
        at = skip_space(bytes, at);
        let start = at;
        match bytes.get(at) {
            Some(b'"') => at = string(bytes, at, tokens)?,
            Some(&bracket @ (b'{' | b'[')) => {
                if open.len() == MAX_DEPTH {
                    return Err(Fault::new(
                        ReadErrorKind::TooDeep,
                        at,
                        "at most 512 levels of nesting",
                    ));
                }
                let index = tokens.len() as u32;
                tokens.push(Token {
                    start: start as u32,
                    end: 0,
                    link: 0,
                });
                at = skip_space(bytes, at + 1);
                // The closing bracket is two above the opening one in ASCII, for both pairs.
                if bytes.get(at) == Some(&(bracket + 2)) {
                    at += 1;
                    close(tokens, index, at);
                } else {
                    open.push(index);
                    if bracket == b'{' {
                        at = key(bytes, at, tokens, "a key or `}`")?;
                    }
                    continue 'value;
                }
            }
            Some(b'-' | b'0'..=b'9') => {
                at = number(bytes, at)?;
                scalar(tokens, start, at);
            }
            Some(b't') => at = literal(bytes, at, b"true", tokens)?,
            Some(b'f') => at = literal(bytes, at, b"false", tokens)?,
            Some(b'n') => at = literal(bytes, at, b"null", tokens)?,
            _ => return Err(Fault::json(bytes, at, "a JSON value")),
        }
        loop {
            let Some(&top) = open.last() else {
                return Ok(at);
            };
            let object = bytes[tokens[top as usize].start as usize] == b'{';
            at = skip_space(bytes, at);
            match (bytes.get(at), object) {
                (Some(b','), true) => {
                    at = skip_space(bytes, at + 1);
                    at = key(bytes, at, tokens, "a key")?;
                    continue 'value;
                }
                (Some(b','), false) => {
                    at += 1;
                    continue 'value;
                }
                (Some(b'}'), true) | (Some(b']'), false) => {
                    at += 1;
                    close(tokens, top, at);
                    open.pop();
                }
                (_, true) => return Err(Fault::json(bytes, at, "`,` or `}`")),
                (_, false) => return Err(Fault::json(bytes, at, "`,` or `]`")),
            }
        }
    }
}

/// The offset of the first byte at or after `at` that is not JSON white space.
#[inline]
pub(crate) fn skip_space(bytes: &[u8], mut at: usize) -> usize {
    while let Some(b' ' | b'\n' | b'\r' | b'\t') = bytes.get(at) {
        at += 1;
    }
    at
}

fn close(tokens: &mut [Token], index: u32, end: usize) {
    let next = tokens.len() as u32;
    let token = &mut tokens[index as usize];
    token.end = end as u32;
    token.link = next;
}

fn scalar(tokens: &mut Vec<Token>, start: usize, end: usize) {
    tokens.push(Token {
        start: start as u32,
        end: end as u32,
        link: 0,
    });
}

fn key(
    bytes: &[u8],
    at: usize,
    tokens: &mut Vec<Token>,
    expected: &'static str,
) -> Result<usize, Fault> {
    if bytes.get(at) != Some(&b'"') {
        return Err(Fault::json(bytes, at, expected));
    }
    let at = skip_space(bytes, string(bytes, at, tokens)?);
    if bytes.get(at) != Some(&b':') {
        return Err(Fault::json(bytes, at, "`:`"));
    }
    Ok(at + 1)
}

fn literal(
    bytes: &[u8],
    at: usize,
    word: &'static [u8],
    tokens: &mut Vec<Token>,
) -> Result<usize, Fault> {
    let end = at + word.len();
    if bytes.get(at..end) != Some(word) {
        return Err(Fault::json(bytes, at, "`true`, `false` or `null`"));
    }
    scalar(tokens, at, end);
    Ok(end)
}

#[inline]
fn string(bytes: &[u8], start: usize, tokens: &mut Vec<Token>) -> Result<usize, Fault> {
    let mut at = start + 1;
    let mut escaped = 0;
    loop {
        at = plain(bytes, at);
        match bytes.get(at) {
            Some(b'"') => break,
            Some(b'\\') => {
                escaped = 1;
                at = escape(bytes, at)?;
            }
            Some(_) => {
                return Err(Fault::json(
                    bytes,
                    at,
                    "an escape (`\\n`, `\\u0000`): a raw control character is not allowed in a string",
                ));
            }
            None => return Err(Fault::json(bytes, at, "the closing `\"` of a string")),
        }
    }
    at += 1;
    tokens.push(Token {
        start: start as u32,
        end: at as u32,
        link: escaped,
    });
    Ok(at)
}

/// The offset of the first byte at or after `at` that ends a plain run: quote, backslash or control.
/// Eight bytes at a step: the lowest marked byte of the word is exact, a borrow can only mark bytes
/// above one that is truly there.
#[inline]
fn plain(bytes: &[u8], mut at: usize) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    while let Some(chunk) = bytes[at..].first_chunk::<8>() {
        let word = u64::from_le_bytes(*chunk);
        let quote = word ^ (ONES * b'"' as u64);
        let backslash = word ^ (ONES * b'\\' as u64);
        let found = ((quote.wrapping_sub(ONES) & !quote)
            | (backslash.wrapping_sub(ONES) & !backslash)
            | (word.wrapping_sub(ONES * 0x20) & !word))
            & HIGH;
        if found != 0 {
            return at + (found.trailing_zeros() / 8) as usize;
        }
        at += 8;
    }
    while let Some(&byte) = bytes.get(at) {
        if byte == b'"' || byte == b'\\' || byte < 0x20 {
            break;
        }
        at += 1;
    }
    at
}

#[inline]
fn escape(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    match bytes.get(at + 1) {
        Some(b'"' | b'\\' | b'/' | b'b' | b'f' | b'n' | b'r' | b't') => Ok(at + 2),
        Some(b'u') => match bytes.get(at + 2..at + 6) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(at + 6),
            _ => Err(Fault::json(bytes, at, "four hex digits after `\\u`")),
        },
        _ => Err(Fault::json(bytes, at, "one of `\"\\/bfnrtu` after `\\`")),
    }
}

fn number(bytes: &[u8], start: usize) -> Result<usize, Fault> {
    let digits = |mut at: usize| {
        while bytes.get(at).is_some_and(u8::is_ascii_digit) {
            at += 1;
        }
        at
    };
    let some = |at: usize| match digits(at) {
        end if end == at => Err(Fault::json(bytes, at, "a digit")),
        end => Ok(end),
    };
    let mut at = start;
    if bytes.get(at) == Some(&b'-') {
        at += 1;
    }
    at = if bytes.get(at) == Some(&b'0') {
        at + 1
    } else {
        some(at)?
    };
    if bytes.get(at) == Some(&b'.') {
        at = some(at + 1)?;
    }
    if let Some(b'e' | b'E') = bytes.get(at) {
        at += 1;
        if let Some(b'+' | b'-') = bytes.get(at) {
            at += 1;
        }
        at = some(at)?;
    }
    Ok(at)
}
