//! Text of strangers on a terminal: one line, no control characters.
//! Deliberately not for JSON or results; those carry text as it is.

/// `text` with whatever could move the cursor, hide or reorder text replaced; line ends stay.
///
/// Names of tools and files come from sessions, and a session can be made by anybody.
pub(crate) fn plain(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\n' => '\n',
            '\t' => ' ',
            character if character.is_control() || reorders(character) => '\u{fffd}',
            character => character,
        })
        .collect()
}

/// As [`plain`], on one line.
pub(crate) fn line(text: &str) -> String {
    plain(text).replace('\n', " ")
}

/// `text` cut to `most` chars, the end kept: the end of a path says more than its beginning.
pub(crate) fn tail(text: &str, most: usize) -> String {
    let chars = text.chars().count();
    if chars <= most {
        return text.to_owned();
    }
    let kept = text.chars().skip(chars - most.saturating_sub(1));
    std::iter::once('…').chain(kept).collect()
}

/// Unicode's marks that change the direction of what follows.
fn reorders(character: char) -> bool {
    matches!(character, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_do_not_reach_a_terminal() {
        assert_eq!(plain("a\u{1b}[2Jb\u{202e}c\td"), "a\u{fffd}[2Jb\u{fffd}c d");
        assert_eq!(line("a\nb\r\nc"), "a b\u{fffd} c");
        assert_eq!(tail("src/main.rs", 5), "…n.rs");
        assert_eq!(tail("界界界", 3), "界界界");
    }
}
