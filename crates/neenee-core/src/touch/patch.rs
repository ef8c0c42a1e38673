//! Which files a patch changes: the `*** Begin Patch` form and unified diffs.
//! Deliberately only the lines that name files where a patch may name them; the text of a hunk names nothing.

/// The names of the files that `patch` writes, removes or creates, as written there, each once.
pub(super) fn files(patch: &str) -> Vec<&str> {
    let mut found = Vec::new();
    match patch.find("*** Begin Patch") {
        Some(start) => begin_patch(&patch[start..], &mut found),
        None => unified(patch, &mut found),
    }
    found
}

/// The grammar that Codex documents for its `apply_patch` tool: file headers stand at the start of a
/// line, and every line of a hunk starts with a space, `+`, `-` or `@@`.
fn begin_patch<'a>(patch: &'a str, found: &mut Vec<&'a str>) {
    const HEADERS: [&str; 4] = [
        "*** Update File: ",
        "*** Add File: ",
        "*** Delete File: ",
        "*** Move to: ",
    ];
    for line in patch.lines() {
        if line.starts_with("*** End Patch") {
            break;
        }
        if let Some(name) = HEADERS.iter().find_map(|header| line.strip_prefix(header)) {
            add(found, name.trim());
        }
    }
}

/// A unified diff, with or without Git's headers. Lines of hunks are counted, so that a removed line
/// that reads `-- a` is not taken for a header.
fn unified<'a>(patch: &'a str, found: &mut Vec<&'a str>) {
    let mut lines = patch.lines().peekable();
    let (mut old_left, mut new_left) = (0u64, 0u64);
    while let Some(line) = lines.next() {
        if old_left > 0 || new_left > 0 {
            match line.as_bytes().first() {
                Some(b'-') => old_left = old_left.saturating_sub(1),
                Some(b'+') => new_left = new_left.saturating_sub(1),
                Some(b'\\') => {}
                // An editor may have stripped the space of an empty line.
                Some(b' ') | None => {
                    old_left = old_left.saturating_sub(1);
                    new_left = new_left.saturating_sub(1);
                }
                Some(_) => (old_left, new_left) = (0, 0),
            }
            if old_left > 0
                || new_left > 0
                || line.starts_with(['-', '+', '\\', ' '])
                || line.is_empty()
            {
                continue;
            }
        }
        if let Some(hunk) = line.strip_prefix("@@ -") {
            (old_left, new_left) = hunk_lengths(hunk).unwrap_or((0, 0));
        } else if let Some(old) = line.strip_prefix("--- ") {
            let new = lines.peek().and_then(|next| next.strip_prefix("+++ "));
            if let Some(new) = new {
                add_pair(found, old, new);
            }
        } else if let Some(name) = line.strip_prefix("rename from ") {
            add(found, name.trim());
        } else if let Some(name) = line.strip_prefix("rename to ") {
            add(found, name.trim());
        } else if let Some(names) = line.strip_prefix("diff --git ") {
            // A change of mode or of binary content alone has no other header.
            if let Some(middle) = names.rfind(" b/") {
                add_pair(found, &names[..middle], &names[middle + 1..]);
            }
        }
    }
}

/// `12,5 +12,7 @@ …`: how many old and new lines the hunk has; 1 where none is given.
fn hunk_lengths(hunk: &str) -> Option<(u64, u64)> {
    let mut parts = hunk.split(' ');
    let old = parts.next()?;
    let new = parts.next()?.strip_prefix('+')?;
    let length = |range: &str| match range.split_once(',') {
        Some((_, length)) => length.parse().ok(),
        None => Some(1),
    };
    Some((length(old)?, length(new)?))
}

fn add_pair<'a>(found: &mut Vec<&'a str>, old: &'a str, new: &'a str) {
    let old = name_in_header(old);
    let new = name_in_header(new);
    // Both or neither: a repository may well have a folder that is called `a`.
    let prefixed = |name: &str, prefix| name.starts_with(prefix) || name == "/dev/null";
    let git = prefixed(old, "a/") && prefixed(new, "b/");
    for (name, prefix) in [(old, "a/"), (new, "b/")] {
        if name != "/dev/null" {
            add(
                found,
                if git {
                    name.strip_prefix(prefix).unwrap_or(name)
                } else {
                    name
                },
            );
        }
    }
}

/// A header's name without the date that may follow it behind a tab, and without quotes.
fn name_in_header(text: &str) -> &str {
    let name = text.split('\t').next().unwrap_or(text).trim();
    let inner = name
        .strip_prefix('"')
        .and_then(|name| name.strip_suffix('"'));
    inner.unwrap_or(name)
}

fn add<'a>(found: &mut Vec<&'a str>, name: &'a str) {
    if !name.is_empty() && !found.contains(&name) && found.len() < MAX_FILES {
        found.push(name);
    }
}

/// More files than a patch that a model writes names; it also bounds the search for doubles.
const MAX_FILES: usize = 1024;
