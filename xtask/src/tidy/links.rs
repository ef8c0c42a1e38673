//! Relative links of the Markdown pages: the file is there, and so is the heading.
//! Deliberately not the links that leave the repository; nothing here asks the network.

use super::{File, Finding};

/// Findings for the links of one page, against all files.
pub(super) fn check(file: &File, files: &[File]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(text) = file.text().filter(|_| file.path.ends_with(".md")) else {
        return findings;
    };
    for (line, target) in links(text) {
        let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
        let Some(path) = resolve(&file.path, path) else {
            findings.push(Finding::new(
                &file.path,
                line,
                format!("link `{target}` leaves the repository: link to something in it"),
            ));
            continue;
        };
        let page = files.iter().find(|other| other.path == path);
        let folder = format!("{path}/");
        if page.is_none()
            && !path.is_empty()
            && !files.iter().any(|other| other.path.starts_with(&folder))
        {
            findings.push(Finding::new(
                &file.path,
                line,
                format!("link `{target}`: there is no {path}; correct or remove it"),
            ));
        } else if let Some(page) = page.filter(|_| !anchor.is_empty())
            && page.path.ends_with(".md")
            && !page
                .text()
                .is_some_and(|text| headings(text).any(|slug| slug == anchor))
        {
            findings.push(Finding::new(
                &file.path,
                line,
                format!("link `{target}`: {path} has no heading #{anchor}; correct or remove it"),
            ));
        }
    }
    findings
}

/// Relative link targets with their lines, from 1; code is passed over.
fn links(text: &str) -> Vec<(usize, &str)> {
    let mut links = Vec::new();
    for (number, line) in prose(text) {
        let mut code = false;
        let mut rest = line;
        while let Some(at) = rest.find(['`', ']']) {
            if rest[at..].starts_with('`') {
                code = !code;
            } else if !code && let Some(target) = rest[at..].strip_prefix("](") {
                let end = target.find([')', ' ']).unwrap_or(target.len());
                let target = target[..end].trim_matches(['<', '>']);
                let outside = target.contains("://") || target.starts_with("mailto:");
                if !outside && !target.is_empty() {
                    links.push((number, target));
                }
            }
            rest = &rest[at + 1..];
        }
    }
    links
}

/// Anchors of the headings as GitHub makes them: lower case, spaces as dashes, punctuation dropped.
fn headings(text: &str) -> impl Iterator<Item = String> {
    prose(text)
        .filter(|(_, line)| line.starts_with('#'))
        .map(|(_, line)| {
            line.trim_start_matches('#')
                .trim()
                .chars()
                .filter(|character| {
                    character.is_alphanumeric() || matches!(character, ' ' | '-' | '_')
                })
                .flat_map(char::to_lowercase)
                .map(|character| if character == ' ' { '-' } else { character })
                .collect()
        })
}

/// The lines outside fenced code, from 1.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fenced = false;
    text.lines().enumerate().filter_map(move |(number, line)| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        (!fenced && !fence).then_some((number + 1, line))
    })
}

/// `target` as seen from the page, relative to the workspace; `None` when it climbs out.
fn resolve(page: &str, target: &str) -> Option<String> {
    if target.is_empty() {
        return Some(page.to_owned());
    }
    let mut parts: Vec<&str> = page.split('/').collect();
    parts.pop();
    if target.starts_with('/') {
        parts.clear();
    }
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            part => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    #[track_caller]
    fn expect(page: &str, expected: &[&str]) {
        let files = [
            file("docs/page.md", page),
            file("docs/other.md", "# Two Words, `code`\n"),
            file("README.md", "# Top\n"),
        ];
        let found: Vec<String> = check(&files[0], &files)
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found}\nlacks\n{expected}");
        }
    }

    #[test]
    fn links_that_resolve_pass() {
        expect("[a](other.md) [b](../README.md#top) [c](../docs)\n", &[]);
        expect("# Here\n[a](#here) [b](other.md#two-words-code)\n", &[]);
        expect(
            "[a](https://example.com/x.md) [b](mailto:a@example.com)\n",
            &[],
        );
        expect("`[a](none.md)`\n\n```\n[b](none.md)\n```\n", &[]);
    }

    #[test]
    fn links_that_do_not_resolve_are_found() {
        expect(
            "\n[a](none.md)\n",
            &["docs/page.md:2: link `none.md`: there is no docs/none.md"],
        );
        expect("[a](../../x.md)\n", &["leaves the repository"]);
        expect(
            "[a](other.md#none) [b](#none)\n",
            &["no heading #none", "no heading #none"],
        );
        expect("![a](none.png \"title\")\n", &["docs/none.png"]);
    }
}
