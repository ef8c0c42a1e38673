//! What every source file keeps: a header of two sentences, a sane length, no leftovers, a pure core.
//! Deliberately textual: it reads lines, not Rust, and errs on the side of a rule a person can predict.

use super::{File, Finding};

/// Longest source file, in lines before its test module. Aim at 200.
const MAX_LINES: usize = 800;

/// What is never committed. Split so that this file passes its own check.
const LEFTOVERS: &[(&str, &str)] = &[
    (concat!("TO", "DO"), "do it, or file an issue"),
    (concat!("FIX", "ME"), "fix it, or file an issue"),
    (concat!("X", "XX"), "say what is meant, or file an issue"),
    (concat!("todo", "!"), "write the code, or leave it out"),
    (
        concat!("unimplemented", "!"),
        "write the code, or leave it out",
    ),
    (concat!("dbg", "!"), "remove it"),
    (concat!("#[", "ignore"), "make the test pass, or remove it"),
];

/// Modules of `std` that core must not reach: what differs from run to run and machine to machine.
const IMPURE: &[&str] = &["env", "fs", "io", "net", "process", "thread", "time"];

/// All rules of this file for one file.
pub(super) fn check(file: &File) -> Vec<Finding> {
    let mut findings = Vec::new();
    let Some(text) = file.text() else {
        return findings;
    };
    check_leftovers(&file.path, text, &mut findings);
    if file.path.ends_with(".rs") {
        check_header(&file.path, text, &mut findings);
        check_length(&file.path, text, &mut findings);
        if file.path.ends_with("/mod.rs") && !file.path.contains("/tests/") {
            findings.push(Finding::new(
                &file.path,
                1,
                "mod.rs: name it after its folder, beside it",
            ));
        }
        if let Some((_, test)) = file.path.split_once("/tests/")
            && !test.contains('/')
        {
            findings.push(Finding::new(
                &file.path,
                1,
                "a second test binary: make it a module of tests/it/main.rs, which links once",
            ));
        }
        if file.path.starts_with("crates/neenee-core/src/") {
            check_pure(&file.path, text, &mut findings);
        }
    }
    findings
}

fn check_leftovers(path: &str, text: &str, findings: &mut Vec<Finding>) {
    for (number, line) in text.lines().enumerate() {
        for (leftover, fix) in LEFTOVERS {
            if contains_word(line, leftover) {
                findings.push(Finding::new(path, number + 1, format!("{leftover}: {fix}")));
            }
        }
    }
}

/// The header says what the file is and what it deliberately is not, so that code finds its place.
fn check_header(path: &str, text: &str, findings: &mut Vec<Finding>) {
    let header: Vec<&str> = text
        .lines()
        .map_while(|line| line.strip_prefix("//!"))
        .collect();
    let words = header.join(" ");
    let sentences = words
        .split_inclusive(['.', '!', '?'])
        .filter(|part| part.ends_with(['.', '!', '?']) && part.trim().len() > 1)
        .count();
    let says_not = words
        .split(|character: char| !character.is_alphanumeric())
        .any(|word| {
            matches!(
                word.to_ascii_lowercase().as_str(),
                "deliberately" | "not" | "no" | "never" | "nothing" | "neither" | "without"
            )
        });
    if header.is_empty() {
        findings.push(Finding::new(
            path,
            1,
            "no header: open the file with `//!`, one sentence what it is and one what it deliberately is not",
        ));
    } else if sentences < 2 || !says_not {
        findings.push(Finding::new(
            path,
            1,
            "half a header: after what the file is, say in a sentence what it deliberately is not",
        ));
    }
}

fn check_length(path: &str, text: &str, findings: &mut Vec<Finding>) {
    if text.starts_with("//! Generated") || path.contains("/tests/") {
        return;
    }
    let lines = without_tests(text).lines().count();
    if lines >= MAX_LINES {
        findings.push(Finding::new(
            path,
            lines,
            format!(
                "{lines} lines without tests, at most {}: split it by concern",
                MAX_LINES - 1
            ),
        ));
    }
}

fn check_pure(path: &str, text: &str, findings: &mut Vec<Finding>) {
    let code = without_tests(text);
    for module in IMPURE {
        let needle = format!("std::{module}");
        for (number, line) in code.lines().enumerate() {
            let code = line.split("//").next().unwrap_or_default();
            if contains_word(code, &needle) {
                findings.push(impure(path, number + 1, module));
            }
        }
    }
    // `use std::{fmt, fs::File};`, over one line or several.
    let mut rest = code;
    let mut offset = 0;
    while let Some(start) = rest.find("std::{") {
        let group = &rest[start..];
        let group = &group[..group.find(';').unwrap_or(group.len())];
        let line = code[..offset + start].matches('\n').count() + 1;
        for module in IMPURE {
            let named = group.split([',', '{', '}']).any(|item| {
                item.trim() == *module || item.trim().starts_with(&format!("{module}::"))
            });
            if named {
                findings.push(impure(path, line, module));
            }
        }
        offset += start + group.len();
        rest = &rest[start + group.len()..];
    }
}

fn impure(path: &str, line: usize, module: &str) -> Finding {
    Finding::new(
        path,
        line,
        format!("std::{module} in the pure core: take the value as an argument"),
    )
}

/// The text up to its test module, which by habit is the last thing in a file.
fn without_tests(text: &str) -> &str {
    text.find("#[cfg(test)]\nmod tests {")
        .map_or(text, |start| &text[..start])
}

/// Whether `word` stands in `line` with no letter, digit or underscore directly around it.
fn contains_word(line: &str, word: &str) -> bool {
    let part = |character: char| character.is_alphanumeric() || character == '_';
    line.match_indices(word).any(|(start, _)| {
        !line[..start].ends_with(part) && !line[start + word.len()..].starts_with(part)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::file;

    const GOOD: &str = "//! What it is.\n//! Deliberately not what it is not.\n\nfn f() {}\n";

    #[track_caller]
    fn expect(path: &str, text: &str, expected: &[&str]) {
        let found: Vec<String> = check(&file(path, text))
            .iter()
            .map(ToString::to_string)
            .collect();
        assert_eq!(found.len(), expected.len(), "{found:#?}");
        for (found, expected) in found.iter().zip(expected) {
            assert!(found.contains(expected), "{found}\nlacks\n{expected}");
        }
    }

    #[test]
    fn a_good_file_passes() {
        expect("crates/neenee-core/src/a.rs", GOOD, &[]);
    }

    #[test]
    fn headers_without_two_sentences_are_found() {
        expect("xtask/src/a.rs", "fn f() {}\n", &["a.rs:1: no header"]);
        expect(
            "xtask/src/a.rs",
            "// What it is. Not more.\n",
            &["no header"],
        );
        expect(
            "xtask/src/a.rs",
            "//! What it is, not more.\n",
            &["half a header"],
        );
        expect(
            "xtask/src/a.rs",
            "//! What it is.\n//! And more.\n",
            &["half a header"],
        );
    }

    #[test]
    fn long_files_are_found_unless_tests_or_generated() {
        let long = format!("{GOOD}{}", "// line\n".repeat(800));
        expect("xtask/src/a.rs", &long, &["a.rs:804: 804 lines"]);
        expect("crates/x/tests/it/a.rs", &long, &[]);
        let generated = format!("//! Generated by a tool. Not by hand.\n{long}");
        expect("xtask/src/a.rs", &generated, &[]);
        let tests = format!(
            "{GOOD}#[cfg(test)]\nmod tests {{\n{}}}\n",
            "// line\n".repeat(800)
        );
        expect("xtask/src/a.rs", &tests, &[]);
    }

    #[test]
    fn leftovers_are_found_as_words() {
        for (leftover, _) in LEFTOVERS {
            expect(
                "xtask/src/a.rs",
                &format!("{GOOD}    // {leftover}\n"),
                &[&format!("a.rs:5: {leftover}")],
            );
            expect("docs/a.md", &format!("# {leftover}\n"), &[leftover]);
            expect(
                "xtask/src/a.rs",
                &format!("{GOOD}    // a{leftover}\n"),
                &[],
            );
            expect("crates/x/tests/data/a.rs", &format!("{leftover}\n"), &[]);
        }
    }

    #[test]
    fn an_impure_core_is_found() {
        let path = "crates/neenee-core/src/a.rs";
        expect(
            path,
            &format!("{GOOD}use std::fs::File;\n"),
            &["a.rs:5: std::fs"],
        );
        expect(
            path,
            &format!("{GOOD}let now = std::time::Instant::now();\n"),
            &["a.rs:5: std::time"],
        );
        expect(
            path,
            &format!("{GOOD}use std::{{\n    fmt,\n    env::var,\n    thread,\n}};\n"),
            &["a.rs:5: std::env", "a.rs:5: std::thread"],
        );
        expect(path, &format!("{GOOD}use std::fmt; // not std::fs\n"), &[]);
        expect(
            path,
            &format!("{GOOD}#[cfg(test)]\nmod tests {{\n    use std::fs;\n}}\n"),
            &[],
        );
        expect(
            "crates/neenee-cli/src/a.rs",
            &format!("{GOOD}use std::fs;\n"),
            &[],
        );
    }

    #[test]
    fn a_second_test_binary_is_found() {
        expect("crates/x/tests/it/main.rs", GOOD, &[]);
        expect("crates/x/tests/a.rs", GOOD, &["a second test binary"]);
    }

    #[test]
    fn mod_rs_is_found() {
        expect("xtask/src/a/mod.rs", GOOD, &["mod.rs: name it"]);
    }
}
