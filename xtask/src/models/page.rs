//! The generated parts of `docs/models.md`, between their marks.
//! Deliberately not the page: its prose is written by people.

use super::Table;
use super::cross::Comparison;
use super::overlay;
use super::wheel::Wheel;
use anyhow::Context as _;
use std::fmt::Write as _;

/// The page with its generated parts renewed.
pub(super) fn fill(
    page: &str,
    table: &Table,
    source: &Wheel,
    cross: &Wheel,
    comparison: &Comparison,
) -> anyhow::Result<String> {
    let page = between(page, "source", &origin(table, source))?;
    let page = between(&page, "overlay", &corrections())?;
    between(&page, "disagreements", &disagreements(cross, comparison))
}

fn origin(table: &Table, source: &Wheel) -> String {
    format!(
        "Source: the price table in the wheel of {} (MIT), built {}; {} rows, {} other names.\n",
        source.title(),
        source.date.as_deref().unwrap_or("at an unknown date"),
        table.rows.len(),
        table.aliases.len()
    )
}

fn corrections() -> String {
    let mut text = "| model | what | source |\n| --- | --- | --- |\n".to_owned();
    for window in overlay::WINDOWS {
        let _ = writeln!(
            text,
            "| `{}` | input window {} | {} |",
            window.name, window.input_window, window.source
        );
    }
    for addition in overlay::ADDITIONS {
        let _ = writeln!(
            text,
            "| `{}` | added | {} |",
            addition.name, addition.source
        );
    }
    for variant in overlay::VARIANTS {
        let _ = writeln!(
            text,
            "| `{}` | as `{}`, input window {} | {} |",
            variant.name, variant.of, variant.input_window, variant.source
        );
    }
    text
}

fn disagreements(cross: &Wheel, comparison: &Comparison) -> String {
    let mut text = format!(
        "{} rows are in {} (MIT) too; {} numbers differ. Prices are per million tokens.\n\n\
         | model | what | here | there |\n| --- | --- | --- | --- |\n",
        comparison.compared,
        cross.title(),
        comparison.disagreements.len()
    );
    for found in &comparison.disagreements {
        let _ = writeln!(
            text,
            "| `{}` | {} | {} | {} |",
            found.model, found.what, found.ours, found.theirs
        );
    }
    text
}

/// The page with what is between `<!-- begin: part -->` and `<!-- end: part -->` replaced.
fn between(page: &str, part: &str, text: &str) -> anyhow::Result<String> {
    let begin = format!("<!-- begin: {part} -->\n");
    let end = format!("<!-- end: {part} -->");
    let missing = || format!("failed to fill docs/models.md: no `{}` in it", begin.trim());
    let (before, rest) = page.split_once(&begin).with_context(missing)?;
    let (_, after) = rest.split_once(&end).with_context(missing)?;
    Ok(format!("{before}{begin}{text}{end}{after}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_replaced_and_prose_stays() {
        let page = "a\n<!-- begin: x -->\nold\n<!-- end: x -->\nb\n";
        assert_eq!(
            between(page, "x", "new\n").unwrap(),
            "a\n<!-- begin: x -->\nnew\n<!-- end: x -->\nb\n"
        );
        assert!(between(page, "y", "").is_err());
    }
}
