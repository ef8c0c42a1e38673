//! Takes the bodies of here-documents out of a command line before it is parsed.
//! Deliberately not the parser's reading of them: a body can be a whole program, whose brackets and
//! words would count as the command line's own; here it becomes a number under which it is kept.

/// A command line whose here-documents are numbers.
pub(super) struct Hollowed<'a> {
    /// The command line, each body replaced by its number.
    pub(super) line: String,
    /// The bodies.
    pub(super) bodies: Vec<&'a str>,
}

/// `None` when `line` has no here-document whose end is found.
///
/// A `<<` inside quotes is taken for one too, when a line follows that would end it. Such a text then loses lines before
/// it is parsed, which can only make it less understood.
pub(super) fn hollow(line: &str) -> Option<Hollowed<'_>> {
    line.contains("<<").then_some(())?;
    let mut hollowed = Hollowed {
        line: String::with_capacity(line.len().min(1024)),
        bodies: Vec::new(),
    };
    let mut rest = line;
    while let Some(end) = rest.find('\n') {
        let (head, tail) = rest.split_at(end + 1);
        hollowed.line.push_str(head);
        rest = tail;
        for delimiter in delimiters(head) {
            let Some((body, after)) = body(rest, &delimiter) else {
                // Without its end it swallows the rest of the text; the parser will say so.
                break;
            };
            hollowed.line.push_str(&hollowed.bodies.len().to_string());
            hollowed.line.push('\n');
            hollowed
                .line
                .push_str(&rest[body.len()..rest.len() - after.len()]);
            hollowed.bodies.push(body);
            rest = after;
        }
    }
    hollowed.line.push_str(rest);
    (!hollowed.bodies.is_empty()).then_some(hollowed)
}

/// The body that `content`, as the parser saw it, stands for.
pub(super) fn body_of<'a>(content: &str, bodies: &[&'a str]) -> Option<&'a str> {
    bodies.get(content.trim().parse::<usize>().ok()?).copied()
}

struct Delimiter<'a> {
    word: &'a str,
    /// `<<-`: tabs before the closing word do not count.
    tabs: bool,
}

fn delimiters(line: &str) -> Vec<Delimiter<'_>> {
    let mut found = Vec::new();
    let mut rest = line;
    while let Some(at) = rest.find("<<") {
        rest = &rest[at + 2..];
        if let Some(after) = rest.strip_prefix('<') {
            rest = after;
            continue;
        }
        let tabs = rest.starts_with('-');
        let text = rest.trim_start_matches('-').trim_start_matches(' ');
        let quote = text
            .chars()
            .next()
            .filter(|c| matches!(c, '\'' | '"' | '\\'));
        let text = &text[quote.map_or(0, char::len_utf8)..];
        let length = text
            .bytes()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'-' | b'.'))
            .count();
        if length > 0 {
            found.push(Delimiter {
                word: &text[..length],
                tabs,
            });
        }
    }
    found
}

/// The lines before the one that ends the here-document, and what follows that line.
fn body<'a>(text: &'a str, delimiter: &Delimiter<'_>) -> Option<(&'a str, &'a str)> {
    let mut start = 0;
    while start < text.len() {
        let end = text[start..]
            .find('\n')
            .map_or(text.len(), |end| start + end);
        let line = text[start..end].trim_end_matches('\r');
        let line = if delimiter.tabs {
            line.trim_start_matches('\t')
        } else {
            line
        };
        if line == delimiter.word {
            return Some((&text[..start], &text[(end + 1).min(text.len())..]));
        }
        start = end + 1;
    }
    None
}
