//! `neenee models`: windows, prices, tokenizers and rewrite rules of the models that are known.
//! Deliberately the table as it is; how it came about is in docs/models.md.

use anyhow::Result;
use neenee_core::model::{self, Model};
use serde::Serialize;

use crate::cli::ModelsArgs;
use crate::output;
use crate::render::number::grouped;
use crate::render::rule_name;
use crate::render::table::{Tone, left, right, table};
use crate::window;

#[derive(Serialize)]
struct ModelRow {
    name: &'static str,
    provider: &'static str,
    input_window: u32,
    max_output: Option<u32>,
    prices: Option<PricesRow>,
    tokenizer: &'static str,
    token_factor: f64,
    rewrite_rule: &'static str,
}

/// US dollars per million tokens.
#[derive(Serialize)]
struct PricesRow {
    input: f64,
    output: f64,
    cache_read: Option<f64>,
    cache_write: Option<f64>,
    cache_write_1h: Option<f64>,
}

pub(super) fn run(args: &ModelsArgs, colour: bool) -> Result<()> {
    let models = match &args.name {
        None => model::all().iter().collect(),
        Some(name) => matching(name)?,
    };
    let rows = models.into_iter().map(row);
    if args.json {
        return output::json(&rows.collect::<Vec<_>>());
    }
    let columns = [
        left("model"),
        left("provider"),
        right("window"),
        right("output"),
        right("$ in"),
        right("$ out"),
        right("$ cached"),
        left("tokens as"),
        left("edits"),
    ];
    let rows: Vec<(Tone, Vec<String>)> = rows.map(|row| (Tone::Plain, cells(&row))).collect();
    let mut text = table(&columns, &rows, colour);
    text.push_str(&format!(
        "\nWindows in tokens of input, prices in US dollars per million tokens; from {} of {}.\n",
        model::SOURCE,
        model::SOURCE_DATE
    ));
    output::stdout(text.as_bytes())
}

/// Those that contain the text, else the one that goes by it in any spelling.
fn matching(name: &str) -> Result<Vec<&'static Model>> {
    let lower = name.to_lowercase();
    let contain: Vec<&Model> = model::all()
        .iter()
        .filter(|model| model.name.contains(&lower) || model.provider == lower)
        .collect();
    if !contain.is_empty() {
        return Ok(contain);
    }
    match model::find(name) {
        Some(model) => Ok(vec![model]),
        None => Err(window::unknown(name, "the command line")),
    }
}

fn row(model: &'static Model) -> ModelRow {
    ModelRow {
        name: model.name,
        provider: model.provider,
        input_window: model.input_window,
        max_output: model.max_output,
        prices: model.prices.map(|prices| PricesRow {
            input: prices.input,
            output: prices.output,
            cache_read: prices.cache_read,
            cache_write: prices.cache_write,
            cache_write_1h: prices.cache_write_1h,
        }),
        tokenizer: model.traits.family.name(),
        // Through its decimal form: 1.22 in 32 bits is 1.2200000286 in 64.
        token_factor: model.traits.token_factor.to_string().parse().unwrap_or(1.0),
        rewrite_rule: rule_name(model.traits.rewrite()),
    }
}

fn cells(row: &ModelRow) -> Vec<String> {
    let price =
        |price: Option<f64>| price.map_or_else(|| "-".to_owned(), |price| price.to_string());
    let prices = row.prices.as_ref();
    let tokenizer = if row.token_factor == 1.0 {
        row.tokenizer.to_owned()
    } else {
        format!("{} × {}", row.tokenizer, row.token_factor)
    };
    vec![
        row.name.to_owned(),
        row.provider.to_owned(),
        grouped(row.input_window as usize),
        row.max_output
            .map_or_else(|| "-".to_owned(), |output| grouped(output as usize)),
        price(prices.map(|prices| prices.input)),
        price(prices.map(|prices| prices.output)),
        price(prices.and_then(|prices| prices.cache_read)),
        tokenizer,
        row.rewrite_rule.to_owned(),
    ]
}
