//! The scanner: rejects what is not JSON, by byte, and writes the tape.
//! Deliberately not recursive: depth is data here, so no input can overflow the stack.

use super::Token;
use crate::error::{Fault, ReadErrorKind};

/// Deepest nesting of arrays and objects that is read. Real bodies stay under 30.
const MAX_DEPTH: usize = 512;

/// Scans one value, appends its tokens and returns the offset one past it. Without `controls` there are
/// no control characters, and strings need not be looked through for them.
pub(super) fn scan(
    bytes: &[u8],
    at: usize,
    controls: bool,
    tokens: &mut Vec<Token>,
) -> Result<usize, Fault> {
    let mut open: Vec<u32> = Vec::with_capacity(16);
    let mut at = at;
    'value: loop {
        at = skip_space(bytes, at);
        let start = at;
        match bytes.get(at) {
            Some(b'"') => at = string(bytes, at, tokens, controls)?,
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
                        at = key(bytes, at, tokens, controls, "a key or `}`")?;
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
                    at = key(bytes, at, tokens, controls, "a key")?;
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
    controls: bool,
    expected: &'static str,
) -> Result<usize, Fault> {
    if bytes.get(at) != Some(&b'"') {
        return Err(Fault::json(bytes, at, expected));
    }
    let at = skip_space(bytes, string(bytes, at, tokens, controls)?);
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
fn string(
    bytes: &[u8],
    start: usize,
    tokens: &mut Vec<Token>,
    controls: bool,
) -> Result<usize, Fault> {
    let mut at = start + 1;
    let mut escaped = 0;
    loop {
        let Some(plain) = memchr::memchr2(b'"', b'\\', &bytes[at..]) else {
            // Say which is wrong first: a raw line break is how a string usually ends unclosed.
            control(bytes, start + 1, bytes.len())?;
            return Err(Fault::json(
                bytes,
                bytes.len(),
                "the closing `\"` of a string",
            ));
        };
        at += plain;
        if bytes[at] == b'"' {
            break;
        }
        escaped = 1;
        at = escape(bytes, at)?;
    }
    if controls {
        control(bytes, start + 1, at)?;
    }
    at += 1;
    tokens.push(Token {
        start: start as u32,
        end: at as u32,
        link: escaped,
    });
    Ok(at)
}

/// Refuses raw control characters between `start` and `end`, which lie inside of a string.
fn control(bytes: &[u8], start: usize, end: usize) -> Result<(), Fault> {
    let inside = &bytes[start..end];
    if !has_control(inside) {
        return Ok(());
    }
    let at = inside.iter().position(|&byte| byte < 0x20).unwrap_or(0);
    Err(Fault::json(
        bytes,
        start + at,
        "an escape (`\\n`, `\\u0000`): a raw control character is not allowed in a string",
    ))
}

/// Whether there is a control character; asked in blocks of a fixed size, each answered for all of its
/// bytes at once.
pub(crate) fn has_control(mut bytes: &[u8]) -> bool {
    while let Some((block, rest)) = bytes.split_first_chunk::<64>() {
        if block.iter().fold(false, |any, &byte| any | (byte < 0x20)) {
            return true;
        }
        bytes = rest;
    }
    bytes.iter().any(|&byte| byte < 0x20)
}

#[inline]
fn escape(bytes: &[u8], at: usize) -> Result<usize, Fault> {
    match bytes.get(at + 1) {
        Some(&next) if SHORT[usize::from(next)] => Ok(at + 2),
        Some(b'u') => match bytes.get(at + 2..at + 6) {
            Some(digits) if digits.iter().all(u8::is_ascii_hexdigit) => Ok(at + 6),
            _ => Err(Fault::json(bytes, at, "four hex digits after `\\u`")),
        },
        _ => Err(Fault::json(bytes, at, "one of `\"\\/bfnrtu` after `\\`")),
    }
}

/// The characters that make an escape with the backslash before them. A table, since which one it is
/// cannot be predicted.
const SHORT: [bool; 256] = {
    let mut short = [false; 256];
    let mut nth = 0;
    while nth < 8 {
        short[b"\"\\/bfnrt"[nth] as usize] = true;
        nth += 1;
    }
    short
};

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

#[cfg(test)]
mod tests {
    use super::*;

    fn end(text: &str) -> Result<usize, Fault> {
        scan(
            text.as_bytes(),
            0,
            has_control(text.as_bytes()),
            &mut Vec::new(),
        )
    }

    #[test]
    fn json_is_taken() {
        for text in [
            "0",
            "-0.0e-1",
            "1E+2",
            "123456789012345678901234567890",
            "\"\"",
            r#""\"\\\/\b\f\n\r\t\u00Ff\ud83d""#,
            "\"\u{7f}é😀 and a long run of plain text, longer than a block of sixty-four bytes\"",
            "[]",
            "{}",
            " [ 1 , [ ] , { } ] ",
            r#"{ "a" : { "b" : [ null , true , false ] } , "a" : 1 }"#,
        ] {
            assert_eq!(end(text).unwrap(), text.trim_end().len(), "{text}");
        }
    }

    #[test]
    fn what_is_not_json_is_refused_at_its_byte() {
        for text in [
            "§",
            "§nul",
            "§True",
            "§NaN",
            "§+1",
            "-§",
            "1.§",
            "1.§e1",
            "1e§",
            "1e+§",
            "[1 §2]",
            "[1,§]",
            "[§,1]",
            "[1§}",
            "{§1:2}",
            "{\"a\"§}",
            "{\"a\":§}",
            "{\"a\":1,§}",
            "{\"a\":1§]",
            "\"abc§",
            "\"§\\x\"",
            "\"§\\u12g4\"",
            "\"§\\u12",
            "\"a§\nb\"",
            "[\"a plain run of more than sixty-four bytes, so that it is passed in blocks§\u{1f}\"]",
            "[[[§",
        ] {
            let at = text.find('§').unwrap();
            let json = text.replacen('§', "", 1);
            let fault = end(&json).expect_err(&json);
            let error = crate::ReadError::new(json.as_bytes(), false, None, fault);
            assert_eq!(error.offset(), at, "{json}: {error}");
            assert_eq!(error.kind(), ReadErrorKind::Json, "{json}");
        }
    }

    #[test]
    fn depth_is_bounded_without_a_stack() {
        let nested = |depth: usize| "[".repeat(depth) + &"]".repeat(depth);
        assert_eq!(end(&nested(MAX_DEPTH)).unwrap(), 2 * MAX_DEPTH);
        for depth in [MAX_DEPTH + 1, 1_000_000] {
            let json = nested(depth);
            let error =
                crate::ReadError::new(json.as_bytes(), false, None, end(&json).unwrap_err());
            assert_eq!(error.kind(), ReadErrorKind::TooDeep);
            assert_eq!(error.offset(), MAX_DEPTH);
        }
    }
}
