//! `cargo xtask models`: generates the model table of the core from the price tables that others keep.
//! Deliberately offline and exact: the same wheels give the same bytes; fetching them is the caller's.
//!
//! The wheels are read as zip archives and never installed:
//! `pip download --no-deps litellm genai-prices`.

mod cross;
mod overlay;
mod page;
mod python;
mod render;
mod select;
mod wheel;

use anyhow::Context as _;
use std::path::PathBuf;

/// Where the table comes from.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// The wheel of litellm (MIT), whose price table is the source.
    #[arg(long, value_name = "FILE")]
    wheel: PathBuf,
    /// The wheel of genai-prices (MIT), to name where the two disagree.
    #[arg(long, value_name = "FILE")]
    cross: PathBuf,
    /// Change nothing; fail when the committed files are not what the wheels give.
    #[arg(long)]
    check: bool,
}

/// Writes `crates/neenee-core/src/model/table.rs` and the tables of `docs/models.md`.
pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let source = wheel::Wheel::open(&args.wheel)?;
    let cross = wheel::Wheel::open(&args.cross)?;
    let selected = select::select(&source.text("model_prices_and_context_window_backup.json")?)?;
    let table = overlay::apply(selected)?;
    let day = source.date.as_deref().unwrap_or("9999");
    let theirs = cross::read(&cross.text("genai_prices/data.py")?, day)?;

    let code = render::table(&table, &source);
    let page_path = crate::workspace_root().join("docs/models.md");
    let page = std::fs::read_to_string(&page_path)
        .with_context(|| format!("failed to read {}", page_path.display()))?;
    let page = page::fill(
        &page,
        &table,
        &source,
        &cross,
        &cross::compare(&table, &theirs),
    )?;

    put(
        &crate::workspace_root().join("crates/neenee-core/src/model/table.rs"),
        &code,
        args.check,
    )?;
    put(&page_path, &page, args.check)?;
    println!("models: {} rows from {}", table.rows.len(), source.title());
    Ok(())
}

/// What is generated: rows by name, and other names for them.
struct Table {
    rows: Vec<Row>,
    aliases: Vec<(String, String)>,
}

/// One model, in the units of the core's `Model`.
#[derive(Clone, Debug, PartialEq)]
struct Row {
    name: String,
    provider: String,
    input_window: u32,
    max_output: Option<u32>,
    prices: Option<Prices>,
}

/// US dollars per million tokens.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Prices {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
}

fn put(path: &std::path::Path, text: &str, check: bool) -> anyhow::Result<()> {
    if !check {
        return std::fs::write(path, text)
            .with_context(|| format!("failed to write {}", path.display()));
    }
    let committed = std::fs::read_to_string(path)
        .with_context(|| format!("failed to read {}", path.display()))?;
    anyhow::ensure!(
        committed == text,
        "{} is not what the wheels give: run the command without --check",
        path.display()
    );
    Ok(())
}
