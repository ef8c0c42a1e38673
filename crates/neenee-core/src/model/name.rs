//! Names of models taken apart: spelling folded, gateways and versions stripped, Claude's lines read.
//! Deliberately no knowledge of which models there are; that is the table's.

/// Makers that Amazon Bedrock and others put before a name with a dot (`us.anthropic.claude-…`).
const MAKERS: &[&str] = &[
    "ai21",
    "amazon",
    "anthropic",
    "cohere",
    "deepseek",
    "google",
    "meta",
    "minimax",
    "mistral",
    "moonshot",
    "moonshotai",
    "nvidia",
    "openai",
    "qwen",
    "writer",
    "xai",
    "zai",
];

/// Words at the end of a name that choose a moment, a speed or a depth, not another window.
const MODES: &[&str] = &[
    "latest",
    "preview",
    "default",
    "exp",
    "experimental",
    "thinking",
    "fast",
    "minimal",
    "low",
    "medium",
    "high",
    "xhigh",
    "max",
    "free",
    "maas",
];

/// One spelling for the many of a name: lower case, and `-` for dots, underscores, colons and `@`.
pub(super) fn fold(name: &str) -> impl Iterator<Item = char> {
    name.chars().map(|character| match character {
        '.' | '_' | ':' | '@' | ' ' => '-',
        other => other.to_ascii_lowercase(),
    })
}

/// Whether two names are spellings of one.
pub(super) fn same(left: &str, right: &str) -> bool {
    fold(left).eq(fold(right))
}

/// Ever shorter forms of a name, the whole first: without gateway, region, maker, window mark, version
/// and date. Whoever knows a longer form has the better answer.
pub(super) fn shorter(name: &str) -> Vec<&str> {
    let name = name.trim();
    let mut forms = Vec::new();
    let mut prefixes = vec![name];
    prefixes.extend(name.match_indices('/').map(|(at, _)| &name[at + 1..]));
    for prefix in prefixes {
        for start in [prefix, after_maker(prefix)] {
            let mut form = start;
            forms.push(form);
            while let Some(shorter) = without_suffix(form) {
                form = shorter;
                forms.push(form);
            }
        }
    }
    forms
}

/// `eu.anthropic.claude-opus-4-5` without what is before `claude`.
fn after_maker(name: &str) -> &str {
    let mut rest = name;
    while let Some((word, after)) = rest.split_once('.') {
        if MAKERS.contains(&word.to_ascii_lowercase().as_str()) {
            return after;
        }
        if !word
            .bytes()
            .all(|byte| byte.is_ascii_alphabetic() || byte == b'-')
        {
            break;
        }
        rest = after;
    }
    name
}

/// The name without its last mark, date, version or mode; `None` when nothing of the kind is left.
fn without_suffix(name: &str) -> Option<&str> {
    // Claude Code marks the long window of a model that has two: `claude-sonnet-4-5[1m]`.
    if let Some(open) = name.rfind('[').filter(|_| name.ends_with(']')) {
        return Some(&name[..open]);
    }
    let at = name.rfind(['-', ':', '@'])?;
    let last = &name[at + 1..];
    let digits = last.bytes().all(|byte| byte.is_ascii_digit());
    let rest = &name[..at];
    let strip = match last.len() {
        // A version after a colon (`…-v1:0`), a date (`-20250929`, `-0613`), a build (`-001`).
        1..=3 if digits => name[at..].starts_with(':') || last.len() == 3,
        4 | 6 | 8 if digits => true,
        // The day of `-2025-08-07` falls here; `claude-opus-4-20` is no name.
        _ => {
            let version = last
                .strip_prefix(['v', 'V'])
                .is_some_and(|number| number.bytes().all(|byte| byte.is_ascii_digit()));
            version || MODES.contains(&last.to_ascii_lowercase().as_str())
        }
    };
    if strip {
        return Some(rest).filter(|rest| !rest.is_empty());
    }
    dashed_date(name)
}

/// `gpt-5-2025-08-07` without its date.
fn dashed_date(name: &str) -> Option<&str> {
    let start = name.len().checked_sub(11)?;
    let date = name.as_bytes().get(start..)?;
    let shape = date.iter().enumerate().all(|(index, byte)| match index {
        0 | 5 | 8 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    shape.then(|| &name[..start])
}

/// The words and numbers of a folded name.
pub(super) fn pieces(name: &str) -> Vec<String> {
    fold(name)
        .collect::<String>()
        .split(|character: char| !character.is_alphanumeric())
        .filter(|piece| !piece.is_empty())
        .map(str::to_owned)
        .collect()
}

/// The first version in a name: `(5, 4)` of `gpt-5.4-mini`, `(3, 5)` of `claude-3-5-haiku-20241022`.
/// What is too long to be a version begins a date.
pub(super) fn version(pieces: &[String]) -> Option<(u32, u32)> {
    let date = |piece: &String| piece.len() > 2 && piece.bytes().all(|byte| byte.is_ascii_digit());
    let pieces = &pieces[..pieces.iter().position(date).unwrap_or(pieces.len())];
    let number = |piece: &String| piece.parse::<u32>().ok().filter(|_| piece.len() <= 2);
    let first = pieces.iter().position(|piece| number(piece).is_some())?;
    let major = number(&pieces[first])?;
    let minor = pieces.get(first + 1).and_then(number).unwrap_or(0);
    Some((major, minor))
}

/// A Claude model by line and version, whichever comes first in its name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Claude {
    /// `opus`, `sonnet`, …; empty for the models before there were lines.
    pub(super) line: String,
    /// `None` when the name gives none, as aliases do.
    pub(super) version: Option<(u32, u32)>,
}

/// Reads a name of a Claude model, any spelling; `None` for other models.
pub(super) fn claude(name: &str) -> Option<Claude> {
    let pieces = pieces(name);
    let claude = pieces.iter().position(|piece| piece == "claude")?;
    let pieces = &pieces[claude + 1..];
    let line = pieces
        .iter()
        .find(|piece| {
            piece.len() > 3
                && piece.bytes().all(|byte| byte.is_ascii_alphabetic())
                && !MODES.contains(&piece.as_str())
        })
        .cloned()
        .unwrap_or_default();
    Some(Claude {
        line,
        version: version(pieces),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn claude_is_read_in_any_spelling() {
        let cases = [
            ("claude-opus-4-7", "opus", Some((4, 7))),
            ("claude-sonnet-4-20250514", "sonnet", Some((4, 0))),
            ("claude-3-5-sonnet-20241022", "sonnet", Some((3, 5))),
            ("us.anthropic.claude-fable-5-v1:0", "fable", Some((5, 0))),
            ("anthropic/claude-4.5-haiku", "haiku", Some((4, 5))),
            ("claude-opus-latest", "opus", None),
            ("claude-sonnet-4-5[1m]", "sonnet", Some((4, 5))),
            ("claude-2.1", "", Some((2, 1))),
        ];
        for (name, line, version) in cases {
            let line = line.to_owned();
            assert_eq!(claude(name), Some(Claude { line, version }), "{name}");
        }
        assert_eq!(claude("gpt-5"), None);
    }

    #[test]
    fn shorter_forms_end_at_the_bare_name() {
        let cases = [
            ("gpt-5-2025-08-07", "gpt-5"),
            (
                "us.anthropic.claude-3-5-sonnet-20241022-v2:0",
                "claude-3-5-sonnet",
            ),
            ("openrouter/google/gemini-3-pro-preview", "gemini-3-pro"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            ("claude-opus-4-1@20250805", "claude-opus-4-1"),
            ("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5"),
            ("deepseek/deepseek-chat:free", "deepseek-chat"),
            ("gpt-4o", "gpt-4o"),
            ("o3", "o3"),
        ];
        for (name, bare) in cases {
            assert_eq!(shorter(name).last(), Some(&bare), "{:?}", shorter(name));
            assert_eq!(shorter(name)[0], name);
        }
    }
}
