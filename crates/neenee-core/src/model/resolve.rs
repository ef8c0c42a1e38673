//! From the name that a session, a request or a person uses to a row of the table.
//! Deliberately not a guess: no answer is better than another model's window.

use super::table::{ALIASES, MODELS};
use super::{Model, name};

/// No model has a name of so many letters; comparing longer ones would only take time.
const LONGEST: usize = 100;

/// The model of that name, in any spelling: with a provider or gateway before it (`openai/…`,
/// `us.anthropic.…-v1:0`, `models/…`), a date, `-latest` or `@default` after it, Claude Code's `[1m]`,
/// dots for dashes, and the short names of clients (`opus`).
pub fn find(name: &str) -> Option<&'static Model> {
    // A mark of the window behind the name goes with every form of it, first of all.
    let mark = name
        .trim()
        .rfind('[')
        .map_or("", |open| &name.trim()[open..]);
    let forms = name::shorter(name);
    forms
        .iter()
        .filter(|_| !mark.is_empty())
        .find_map(|form| row(&format!("{form}{mark}")))
        .or_else(|| forms.iter().find_map(|form| row(form)))
        .or_else(|| {
            // Clients spell Claude both ways round: `claude-4.5-sonnet`.
            let claude = name::claude(name).filter(|claude| claude.version.is_some())?;
            MODELS
                .iter()
                .find(|model| name::claude(model.name).as_ref() == Some(&claude))
        })
}

/// The row of exactly that name or alias, in any spelling.
fn row(name: &str) -> Option<&'static Model> {
    let name = ALIASES
        .iter()
        .find(|(alias, _)| name::same(alias, name))
        .map_or(name, |(_, target)| target);
    MODELS.iter().find(|model| name::same(model.name, name))
}

/// The models with the most similar names, best first, at most three; none when nothing is similar.
pub fn nearest(name: &str) -> Vec<&'static Model> {
    let letters = |name: &str| -> Vec<char> {
        let name = name.rsplit('/').next().unwrap_or(name);
        name::fold(name).filter(|letter| *letter != '-').collect()
    };
    let wanted = letters(name);
    if wanted.len() > LONGEST {
        return Vec::new();
    }
    let mut ranked: Vec<(usize, &'static Model)> = MODELS
        .iter()
        .map(|model| (distance(&wanted, &letters(model.name)), model))
        .filter(|(distance, _)| *distance <= wanted.len() / 3)
        .collect();
    // Stable, so equals keep the order of the table; a gateway's row comes after its maker's.
    ranked.sort_by_key(|(distance, model)| (*distance, model.name.contains('/')));
    ranked.into_iter().take(3).map(|(_, model)| model).collect()
}

/// Insertions, deletions and replacements between two names.
fn distance(left: &[char], right: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let replaced = diagonal + usize::from(a != b);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[right.len()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Traits;

    #[track_caller]
    fn check(name: &str, expected: Option<&str>) {
        assert_eq!(find(name).map(|model| model.name), expected, "{name}");
    }

    #[test]
    fn every_row_is_found_by_its_name_and_told_by_its_traits() {
        for model in MODELS {
            check(model.name, Some(model.name));
            assert_eq!(model.traits, Traits::of(model.name), "{}", model.name);
            assert!(model.input_window >= 8_000, "{}", model.name);
        }
        for (alias, target) in ALIASES {
            check(alias, Some(target));
        }
    }

    #[test]
    fn names_of_gateways_and_clients_resolve() {
        let cases = [
            ("claude-opus-4-5-20251101", "claude-opus-4-5"),
            ("anthropic/claude-opus-4.5", "claude-opus-4-5"),
            (
                "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "claude-sonnet-4-5",
            ),
            (
                "bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
                "claude-sonnet-4-5",
            ),
            (
                "litellm_proxy/anthropic.claude-3-5-sonnet-20241022-v2:0",
                "claude-3-5-sonnet",
            ),
            ("vertex_ai/claude-opus-4-1@20250805", "claude-opus-4-1"),
            ("claude-4.5-sonnet", "claude-sonnet-4-5"),
            ("Claude-Haiku-4.5", "claude-haiku-4-5"),
            ("claude-opus-4-6[1m]", "claude-opus-4-6"),
            ("claude-sonnet-4-5[1m]", "claude-sonnet-4-5[1m]"),
            ("claude-sonnet-4-5-20250929[1m]", "claude-sonnet-4-5[1m]"),
            ("opus", "claude-opus-5-5"),
            ("openai/gpt-5.5", "gpt-5.5"),
            ("gpt-5-2025-08-07", "gpt-5"),
            ("gpt-5.1-codex-max", "gpt-5.1-codex-max"),
            ("gpt-5.5-high", "gpt-5.5"),
            ("google/gemini-3-pro-preview", "gemini-3-pro-preview"),
            ("models/gemini-2.5-pro", "gemini-2.5-pro"),
            ("openrouter/x-ai/grok-code-fast-1", "grok-code-fast-1"),
            (
                "meta-llama/llama-4-maverick",
                "llama-4-maverick-17b-128e-instruct",
            ),
        ];
        for (name, expected) in cases {
            check(name, Some(expected));
        }
    }

    #[test]
    fn what_is_not_known_is_not_guessed() {
        for name in [
            "",
            "default",
            "<synthetic>",
            "scripted",
            "claude-saga-9",
            "gpt-99",
            "/",
            "-",
            "[1m]",
        ] {
            check(name, None);
        }
    }

    #[test]
    fn near_names_are_offered() {
        assert_eq!(nearest("claude-sonet-4-5")[0].name, "claude-sonnet-4-5");
        assert_eq!(nearest("openai/gpt5.5")[0].name, "gpt-5.5");
        assert!(nearest("nothing like it").is_empty());
        assert!(nearest(&"gpt-5".repeat(1_000)).is_empty());
    }

    proptest::proptest! {
        // Each case compares a name with every row.
        #![proptest_config(proptest::prelude::ProptestConfig::with_cases(32))]

        #[test]
        fn any_name_is_taken(name in ".{0,40}", tail in "[-.:@/\\[\\]0-9vm]{0,14}") {
            let name = format!("{name}{tail}");
            find(&name);
            nearest(&name);
            Traits::of(&name);
        }
    }
}
