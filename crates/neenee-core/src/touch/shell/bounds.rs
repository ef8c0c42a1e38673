//! Which command lines are worth parsing, and which are safe to parse.
//! Deliberately coarse: it may let through what turns out to touch nothing, never what a parser could drown in.

/// The longest text handed to the parser, here-documents apart. Real command lines have 150 bytes on
/// average and 3 KB at most; a longer one touches nothing.
const MAX_BYTES: usize = 16 * 1024;

/// The deepest nesting of brackets. The parser reads the inside of a substitution again on each level, so that its
/// time grows with the cube of the depth; and it recurses.
const MAX_DEPTH: usize = 12;

/// The most words and marks that open something which the parser recurses into. A level takes it a few
/// kilobytes of stack; a thread may have as little as 512.
const MAX_OPENERS: usize = 48;

/// Whether `line` can be parsed in bounded time and stack.
pub(super) fn is_safe(line: &str) -> bool {
    if line.len() > MAX_BYTES {
        return false;
    }
    let bytes = line.as_bytes();
    let (mut depth, mut openers) = (0usize, 0usize);
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'(' | b'{' => {
                depth += 1;
                if depth > MAX_DEPTH {
                    return false;
                }
                at += 1;
            }
            b')' | b'}' => {
                depth = depth.saturating_sub(1);
                at += 1;
            }
            b'`' | b'!' => {
                openers += 1;
                at += 1;
            }
            byte if byte.is_ascii_alphabetic() => {
                let end = word_end(bytes, at);
                openers += usize::from(opens(&line[at..end]));
                at = end;
            }
            _ => at += 1,
        }
        if openers > MAX_OPENERS {
            return false;
        }
    }
    true
}

fn opens(word: &str) -> bool {
    matches!(
        word,
        "if" | "elif"
            | "while"
            | "until"
            | "for"
            | "case"
            | "select"
            | "function"
            | "coproc"
            | "time"
    )
}

/// Whether `line` contains anything that could touch a file, by our rules.
pub(super) fn is_worth_parsing(line: &str) -> bool {
    let bytes = line.as_bytes();
    let mut git = false;
    let mut git_changes = false;
    // Whether the last thing before the word was a pipe, which makes a reader a filter.
    let mut behind_pipe = false;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if byte.is_ascii_alphanumeric() || byte == b'_' {
            let end = word_end(bytes, at);
            match &line[at..end] {
                "tee" | "mv" | "cp" | "rm" | "unlink" | "truncate" | "ln" | "dd" | "install"
                | "perl" | "patch" | "apply_patch" | "applypatch" | "open" | "create" => {
                    return true;
                }
                "head" | "tail" | "sed" | "nl" | "less" | "more" | "bat" | "batcat"
                    if !behind_pipe =>
                {
                    return true;
                }
                // `cat <<EOF` alone shows what the command line itself says.
                "cat" if !behind_pipe && !line[end..].trim_start().starts_with("<<") => {
                    return true;
                }
                "git" => git = true,
                "checkout" | "restore" | "apply" => git_changes = true,
                _ => {}
            }
            at = end;
            behind_pipe = false;
            continue;
        }
        match byte {
            b'>' if writes_a_file(line, at) => return true,
            b'|' => {
                behind_pipe =
                    bytes.get(at + 1) != Some(&b'|') && (at == 0 || bytes[at - 1] != b'|');
            }
            b' ' | b'\t' | b'\n' | b'\\' | b'&' => {}
            _ => behind_pipe = false,
        }
        at += 1;
    }
    git && git_changes
}

/// Whether the `>` at `at` can send something into a file: not `2>&1`, `>/dev/null`, `<a@b>`.
fn writes_a_file(line: &str, at: usize) -> bool {
    let rest = line[at + 1..].trim_start_matches(['>', '|']);
    let target = rest.trim_start_matches([' ', '\t']);
    match target.as_bytes() {
        [] | [b'\n' | b'=' | b')' | b';' | b'<' | b'}', ..] => false,
        [b'&', next, ..] => !next.is_ascii_digit() && *next != b'-',
        _ => !target.starts_with("/dev/null"),
    }
}

fn word_end(bytes: &[u8], at: usize) -> usize {
    let word = bytes[at..]
        .iter()
        .take_while(|b| b.is_ascii_alphanumeric() || **b == b'_');
    at + word.count()
}
