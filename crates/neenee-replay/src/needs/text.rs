//! Lines and identifiers of a text, as they are compared.
//! Deliberately the same for what tools return and what models write.

use std::hash::BuildHasher as _;

/// The least chars of a line that counts as evidence: shorter ones stand everywhere.
const LINE_CHARS: usize = 16;

/// The least chars of an identifier that counts as evidence.
const IDENTIFIER_CHARS: usize = 8;

/// What a line or an identifier is found by.
pub(crate) fn key(text: &str) -> u64 {
    rustc_hash::FxBuildHasher.hash_one(text)
}

/// The lines that count, stripped, without a tool's numbering.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = &str> {
    text.lines()
        .map(|line| peel(line.trim()))
        .filter(|line| line.len() >= LINE_CHARS && line.chars().nth(LINE_CHARS - 1).is_some())
}

/// The line without what a tool put before it: `12<tab>`, `12→`, `12: `, `12 | `, `12:`, and what
/// searches put before a match, `src/a.rs:12:`.
fn peel(line: &str) -> &str {
    if let Some(rest) = number(line) {
        return rest.trim();
    }
    // A path has no white space, so that prose is never taken for one.
    let end = line
        .bytes()
        .position(|byte| byte == b':' || byte.is_ascii_whitespace());
    match end {
        Some(end) if end > 0 && line.as_bytes()[end] == b':' => match number(&line[end + 1..]) {
            Some(rest) => rest.trim(),
            None => line,
        },
        _ => line,
    }
}

/// What follows digits and a mark that tools end them with.
fn number(text: &str) -> Option<&str> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return None;
    }
    let rest = &text[digits..];
    rest.strip_prefix(['\t', '→', ':'])
        .or_else(|| rest.strip_prefix(" | "))
}

/// The names of a text that look like those of code: with an underscore or a digit inside, or with
/// a capital after a small letter. Words of prose are no evidence.
pub(crate) fn identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .filter(|word| word.len() >= IDENTIFIER_CHARS && is_code(word.as_bytes()))
}

fn is_code(word: &[u8]) -> bool {
    let starts = word[0].is_ascii_alphabetic() || word[0] == b'_';
    let inner = word.windows(2).any(|pair| {
        (pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
            || (pair[0].is_ascii_alphabetic() && (pair[1] == b'_' || pair[1].is_ascii_digit()))
    });
    starts && inner
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbering_is_peeled_off_and_short_lines_do_not_count() {
        let text = "   12\tlet total = sum(items);\n  7→    return compute(total)\n3: a line of a listing\n\
            src/a.rs:40:    pub fn project(&self)\n  9 | match self.kind() {\nshort\n}\n\
            note: this is prose, not a path";
        let found: Vec<&str> = lines(text).collect();
        assert_eq!(
            found,
            [
                "let total = sum(items);",
                "return compute(total)",
                "a line of a listing",
                "pub fn project(&self)",
                "match self.kind() {",
                "note: this is prose, not a path",
            ]
        );
        assert_eq!(lines("会话窗口结果解析缓存").count(), 0);
        assert_eq!(lines("会话窗口结果解析缓存请求预算令牌").count(), 1);
    }

    #[test]
    fn identifiers_are_those_of_code() {
        let found: Vec<&str> =
            identifiers("The function compute_total() of parseJson2 and getUserName, v1_x, internationalization")
                .collect();
        assert_eq!(found, ["compute_total", "parseJson2", "getUserName"]);
    }
}
