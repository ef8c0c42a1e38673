//! What litellm's table has wrong or not yet, each with its source, merged by the generator.
//! Deliberately small: an entry that the table has caught up with stops the generator and is removed.

use super::{Prices, Row, Table};
use anyhow::{Context as _, bail};

/// An input window that the table has wrong.
pub(super) struct Window {
    /// The row.
    pub(super) name: &'static str,
    /// What it accepts as input, in tokens.
    pub(super) input_window: u32,
    /// Why.
    pub(super) source: &'static str,
}

/// A row that the table lacks.
pub(super) struct Addition {
    /// The row.
    pub(super) name: &'static str,
    provider: &'static str,
    input_window: u32,
    max_output: u32,
    prices: Prices,
    /// Where it is from.
    pub(super) source: &'static str,
}

/// A row that differs from another in its window alone.
pub(super) struct Variant {
    /// The row.
    pub(super) name: &'static str,
    /// The other.
    pub(super) of: &'static str,
    /// What it accepts as input, in tokens.
    pub(super) input_window: u32,
    /// Where it is from.
    pub(super) source: &'static str,
}

const SHARED: &str = "the table gives input and output together; less the longest answer, as it does for later models";

/// Corrections, by name.
pub(super) const WINDOWS: &[Window] = &[
    window("chat-latest", 272_000),
    window("gpt-5-pro", 128_000),
    window("gpt-5.1-codex", 272_000),
    window("gpt-5.1-codex-max", 272_000),
    window("gpt-5.1-codex-mini", 272_000),
    window("gpt-5.4", 922_000),
    window("gpt-5.4-pro", 922_000),
    window("gpt-5.5", 922_000),
    window("gpt-5.5-pro", 922_000),
];

/// Rows that the table will have when it is next read.
pub(super) const ADDITIONS: &[Addition] = &[
    Addition {
        name: "claude-fable-5-2",
        provider: "anthropic",
        input_window: 1_000_000,
        max_output: 128_000,
        prices: FABLE_5_2,
        source: "https://platform.claude.com/docs/en/about-claude/pricing",
    },
    Addition {
        name: "claude-mythos-5-2",
        provider: "anthropic",
        input_window: 1_000_000,
        max_output: 128_000,
        prices: FABLE_5_2,
        source: "https://platform.claude.com/docs/en/about-claude/pricing",
    },
];

/// Windows that are asked for by a mark behind the name.
pub(super) const VARIANTS: &[Variant] = &[
    Variant {
        name: "claude-sonnet-4[1m]",
        of: "claude-sonnet-4",
        input_window: 1_000_000,
        source: "the beta header context-1m-2025-08-07, which Claude Code asks for by [1m]",
    },
    Variant {
        name: "claude-sonnet-4-5[1m]",
        of: "claude-sonnet-4-5",
        input_window: 1_000_000,
        source: "the beta header context-1m-2025-08-07, which Claude Code asks for by [1m]",
    },
];

/// What Claude Code calls the newest of each line, and what OpenRouter calls the open models that others
/// call by their size; the second name is an alias or a row of the table.
const ALIASES: &[(&str, &str)] = &[
    ("llama-4-maverick", "llama-4-maverick-17b-128e-instruct"),
    ("llama-4-scout", "llama-4-scout-17b-16e-instruct"),
    ("opus", "claude-opus-latest"),
    ("sonnet", "claude-sonnet-latest"),
    ("haiku", "claude-haiku-latest"),
    ("fable", "claude-fable-latest"),
];

const FABLE_5_2: Prices = Prices {
    input: 8.0,
    output: 40.0,
    cache_read: Some(0.2),
    cache_write: Some(10.0),
    cache_write_1h: Some(16.0),
};

const fn window(name: &'static str, input_window: u32) -> Window {
    Window {
        name,
        input_window,
        source: SHARED,
    }
}

/// Merges the overlay into the table.
pub(super) fn apply(mut table: Table) -> anyhow::Result<Table> {
    for window in WINDOWS {
        let row = find(&mut table, window.name)?;
        if row.input_window == window.input_window {
            bail!(
                "the table has caught up with the overlay: remove the window of {}",
                window.name
            );
        }
        row.input_window = window.input_window;
    }
    for addition in ADDITIONS {
        if table.rows.iter().any(|row| row.name == addition.name) {
            bail!(
                "the table has caught up with the overlay: remove {}",
                addition.name
            );
        }
        table.rows.push(Row {
            name: addition.name.to_owned(),
            provider: addition.provider.to_owned(),
            input_window: addition.input_window,
            max_output: Some(addition.max_output),
            prices: Some(addition.prices),
        });
    }
    for variant in VARIANTS {
        let row = Row {
            name: variant.name.to_owned(),
            input_window: variant.input_window,
            ..find(&mut table, variant.of)?.clone()
        };
        table.rows.push(row);
    }
    for (alias, through) in ALIASES {
        let target = match table.aliases.iter().find(|(alias, _)| alias == through) {
            Some((_, target)) => target.clone(),
            None => find(&mut table, through)?.name.clone(),
        };
        table.aliases.push(((*alias).to_owned(), target));
    }
    table.rows.sort_by(|left, right| left.name.cmp(&right.name));
    table.aliases.sort();
    Ok(table)
}

fn find<'a>(table: &'a mut Table, name: &str) -> anyhow::Result<&'a mut Row> {
    table
        .rows
        .iter_mut()
        .find(|row| row.name == name)
        .with_context(|| format!("the table has no {name} any more: remove it from the overlay"))
}
