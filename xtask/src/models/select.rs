//! Which entries of litellm's table become rows: chat models with tools, once each, under their own name.
//! Deliberately no facts of our own; those are the overlay's.

use super::{Prices, Row, Table};
use anyhow::Context as _;
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Those who make models and serve them: litellm's name, ours, and what it puts before the model's.
const MAKERS: &[(&str, &str, &str)] = &[
    ("anthropic", "anthropic", ""),
    ("openai", "openai", ""),
    ("gemini", "google", "gemini/"),
    ("mistral", "mistral", "mistral/"),
    ("deepseek", "deepseek", "deepseek/"),
    ("xai", "xai", "xai/"),
    ("dashscope", "alibaba", "dashscope/"),
    ("moonshot", "moonshot", "moonshot/"),
    ("zai", "zai", "zai/"),
    ("minimax", "minimax", "minimax/"),
    ("meta_llama", "meta", "meta_llama/"),
];

/// Clouds that serve models of makers, also those that the maker has retired: litellm's name, the
/// maker, and what stands before the model's name. Looked at in this order, for models not yet had.
const CLOUDS: &[(&str, &str, &str)] = &[
    ("vertex_ai-anthropic_models", "anthropic", "vertex_ai/"),
    ("vertex_ai-language-models", "google", "vertex_ai/"),
    ("vertex_ai", "google", "vertex_ai/"),
    ("vertex_ai-llama_models", "meta", "vertex_ai/meta/"),
    ("bedrock_converse", "anthropic", "anthropic."),
    ("bedrock_converse", "amazon", "amazon."),
    ("bedrock_converse", "meta", "meta."),
    ("bedrock", "anthropic", "anthropic."),
];

/// Those who serve models of others with windows and prices of their own. Their rows keep their prefix,
/// except for open models (`true`) that nobody above has.
const GATEWAYS: &[(&str, bool)] = &[
    ("github_copilot", false),
    ("groq", true),
    ("together_ai", true),
];

/// Words in the names of models that are not for agents with tools, whatever the table says.
const OTHER_TRADES: &[&str] = &[
    "audio",
    "computer",
    "container",
    "embed",
    "guard",
    "image",
    "learnlm",
    "live",
    "ocr",
    "realtime",
    "research",
    "robotics",
    "search",
    "transcribe",
    "tts",
];

/// A window below this is no window for an agent.
const MIN_WINDOW: u32 = 8_000;

/// Reads litellm's table.
pub(super) fn select(json: &str) -> anyhow::Result<Table> {
    let entries: BTreeMap<String, Map<String, Value>> = serde_json::from_str(json)
        .context("failed to read litellm's table as JSON objects by name")?;
    let mut rows = Rows::default();
    for (provider, ours, prefix) in MAKERS {
        let mut made: Vec<Row> = of(&entries, provider)
            // Some models are listed with and without the prefix; the prefixed entry is the kept one.
            .filter_map(|(key, entry)| row(key.strip_prefix(prefix)?, ours, entry))
            .collect();
        collapse_dates(&mut made);
        made.into_iter().for_each(|row| rows.add(row));
    }
    for (provider, maker, prefix) in CLOUDS {
        let mut served: Vec<Row> = of(&entries, provider)
            .filter_map(|(key, entry)| {
                row(without_revision(key.strip_prefix(prefix)?), maker, entry)
            })
            .collect();
        collapse_dates(&mut served);
        // A dated row beside an undated one is a variant of what is there.
        served.retain(|row| undated(&row.name).is_none_or(|undated| rows.get(undated).is_none()));
        served.into_iter().for_each(|row| rows.add(row));
    }
    for (gateway, open) in GATEWAYS {
        for (key, entry) in of(&entries, gateway) {
            let bare = key.rsplit('/').next().unwrap_or(key);
            let Some(mut row) = row(bare, gateway, entry) else {
                continue;
            };
            let known = rows.get(&row.name);
            if known.is_some_and(|known| same_limits(known, &row)) {
                continue;
            }
            if known.is_some() || !open {
                row.name = key.to_ascii_lowercase();
            }
            rows.add(row);
        }
    }

    let aliases = entries
        .iter()
        .filter(|(key, _)| !key.contains('/'))
        .filter_map(|(key, entry)| {
            let target = entry.get("alias_of")?.as_str()?;
            rows.get(target).map(|row| (key.clone(), row.name.clone()))
        })
        .collect();
    Ok(Table {
        rows: rows.0.into_values().collect(),
        aliases,
    })
}

/// Rows by their name with dots as dashes, since both spellings are one model.
#[derive(Default)]
struct Rows(BTreeMap<String, Row>);

impl Rows {
    fn get(&self, name: &str) -> Option<&Row> {
        self.0.get(&name.replace('.', "-"))
    }

    /// Keeps what is there already.
    fn add(&mut self, row: Row) {
        self.0.entry(row.name.replace('.', "-")).or_insert(row);
    }
}

fn of<'a>(
    entries: &'a BTreeMap<String, Map<String, Value>>,
    provider: &str,
) -> impl Iterator<Item = (&'a str, &'a Map<String, Value>)> {
    entries
        .iter()
        .filter(move |(_, entry)| {
            entry.get("litellm_provider").and_then(Value::as_str) == Some(provider)
        })
        .map(|(key, entry)| (key.as_str(), entry))
}

/// The row of an entry; `None` when it is not for agents or says too little.
fn row(name: &str, provider: &str, entry: &Map<String, Value>) -> Option<Row> {
    let mode = entry.get("mode")?.as_str()?;
    let tools = entry.get("supports_function_calling")?.as_bool()?;
    let name = name.to_ascii_lowercase();
    let other_trade = name
        .split(|character: char| !character.is_alphanumeric())
        .any(|word| OTHER_TRADES.contains(&word));
    if !matches!(mode, "chat" | "responses") || !tools || other_trade {
        return None;
    }
    // Fine-tuned models and the like have names that nobody else has.
    if name.contains(['/', ':', '@']) {
        return None;
    }
    let tokens = |key: &str| {
        entry
            .get(key)
            .and_then(Value::as_u64)
            .and_then(|tokens| u32::try_from(tokens).ok())
            .filter(|tokens| *tokens > 0)
    };
    let price = |key: &str| entry.get(key).and_then(Value::as_f64).map(per_million);
    let input_window = tokens("max_input_tokens").filter(|window| *window >= MIN_WINDOW)?;
    let prices = price("input_cost_per_token")
        .zip(price("output_cost_per_token"))
        .map(|(input, output)| {
            // A cache at no cost beside input that has one means that nothing is charged on top.
            let cache = |key| price(key).filter(|price| *price > 0.0 || input == 0.0);
            Prices {
                input,
                output,
                cache_read: cache("cache_read_input_token_cost"),
                cache_write: cache("cache_creation_input_token_cost"),
                cache_write_1h: cache("cache_creation_input_token_cost_above_1hr"),
            }
        });
    Some(Row {
        name,
        provider: provider.to_owned(),
        input_window,
        max_output: tokens("max_output_tokens"),
        prices,
    })
}

/// Dollars per million tokens, without the noise of a division.
fn per_million(per_token: f64) -> f64 {
    (per_token * 1e12).round() / 1e6
}

fn same_limits(left: &Row, right: &Row) -> bool {
    left.input_window == right.input_window && left.prices == right.prices
}

/// Drops rows with a date, a build or `-latest` that say what the row without it says; the newest of
/// dated rows without an undated one becomes it.
fn collapse_dates(rows: &mut Vec<Row>) {
    rows.sort_by(|left, right| right.name.cmp(&left.name));
    let mut kept: BTreeMap<String, Row> = rows
        .iter()
        .filter(|row| undated(&row.name).is_none())
        .map(|row| (row.name.clone(), row.clone()))
        .collect();
    let said =
        |row: &Row, known: &Row| same_limits(known, row) && known.max_output == row.max_output;
    let plain = kept.clone();
    kept.retain(|name, row| {
        let stem = name.rsplit_once('-').filter(|(_, last)| {
            *last == "latest" || (last.len() == 4 && last.bytes().all(|byte| byte.is_ascii_digit()))
        });
        !stem.is_some_and(|(stem, _)| plain.get(stem).is_some_and(|known| said(row, known)))
    });
    for row in rows.drain(..) {
        let Some(bare) = undated(&row.name) else {
            continue;
        };
        match kept.get(bare) {
            None => {
                let name = bare.to_owned();
                kept.insert(name.clone(), Row { name, ..row });
            }
            Some(known) if said(&row, known) => {}
            Some(_) => {
                kept.insert(row.name.clone(), row);
            }
        }
    }
    rows.extend(kept.into_values());
}

/// `gpt-5` of `gpt-5-2025-08-07` and `claude-opus-4` of `claude-opus-4-20250514`; `None` without a date.
fn undated(name: &str) -> Option<&str> {
    let digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let (rest, last) = name.rsplit_once('-')?;
    if last.len() == 8 && digits(last) {
        return Some(rest);
    }
    let (rest, month) = rest.rsplit_once('-')?;
    let (rest, year) = rest.rsplit_once('-')?;
    let date = year.len() == 4 && month.len() == 2 && last.len() == 2;
    (date && digits(year) && digits(month) && digits(last)).then_some(rest)
}

/// The name without Bedrock's `-v1:0` and Vertex's `@20250929` and `-maas`.
fn without_revision(name: &str) -> &str {
    let name = name.split('@').next().unwrap_or(name);
    let name = name.strip_suffix("-maas").unwrap_or(name);
    let name = name.split(':').next().unwrap_or(name);
    match name.rsplit_once("-v") {
        Some((rest, version)) if version.bytes().all(|byte| byte.is_ascii_digit()) => rest,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const JSON: &str = r#"{
        "claude-a-1": {"litellm_provider": "anthropic", "mode": "chat", "supports_function_calling": true,
            "max_input_tokens": 200000, "max_output_tokens": 64000, "input_cost_per_token": 3e-06,
            "output_cost_per_token": 1.5e-05, "cache_read_input_token_cost": 3e-07},
        "claude-a-1-20250101": {"litellm_provider": "anthropic", "mode": "chat", "supports_function_calling": true,
            "max_input_tokens": 200000, "max_output_tokens": 64000, "input_cost_per_token": 3e-06,
            "output_cost_per_token": 1.5e-05, "cache_read_input_token_cost": 3e-07},
        "claude-a-latest": {"alias_of": "claude-a-1"},
        "x/claude-a-latest": {"alias_of": "x/claude-a-1"},
        "gpt-b-2025-01-02": {"litellm_provider": "openai", "mode": "responses", "supports_function_calling": true,
            "max_input_tokens": 272000},
        "gpt-b-audio": {"litellm_provider": "openai", "mode": "chat", "supports_function_calling": true,
            "max_input_tokens": 272000},
        "gpt-b-small": {"litellm_provider": "openai", "mode": "chat", "supports_function_calling": true,
            "max_input_tokens": 4096},
        "gpt-b-text": {"litellm_provider": "openai", "mode": "chat", "max_input_tokens": 272000},
        "anthropic.claude-old-20240101-v2:0": {"litellm_provider": "bedrock_converse", "mode": "chat",
            "supports_function_calling": true, "max_input_tokens": 100000},
        "eu.anthropic.claude-old-20240101-v2:0": {"litellm_provider": "bedrock_converse", "mode": "chat",
            "supports_function_calling": true, "max_input_tokens": 1000000},
        "anthropic.claude-a-1-20250101-v1:0": {"litellm_provider": "bedrock_converse", "mode": "chat",
            "supports_function_calling": true, "max_input_tokens": 100000},
        "github_copilot/other": {"litellm_provider": "github_copilot", "mode": "chat",
            "supports_function_calling": true, "max_input_tokens": 128000},
        "github_copilot/claude-a.1": {"litellm_provider": "github_copilot", "mode": "chat",
            "supports_function_calling": true, "max_input_tokens": 128000},
        "groq/meta/open-7b": {"litellm_provider": "groq", "mode": "chat",
            "supports_function_calling": true, "max_input_tokens": 131072}
    }"#;

    #[test]
    fn each_model_is_one_row_under_its_own_name() {
        let table = select(JSON).unwrap();
        let rows: Vec<(&str, &str, u32)> = table
            .rows
            .iter()
            .map(|row| (row.name.as_str(), row.provider.as_str(), row.input_window))
            .collect();
        assert_eq!(
            rows,
            [
                ("claude-a-1", "anthropic", 200_000),
                ("claude-old", "anthropic", 100_000),
                ("github_copilot/claude-a.1", "github_copilot", 128_000),
                ("github_copilot/other", "github_copilot", 128_000),
                ("gpt-b", "openai", 272_000),
                ("open-7b", "groq", 131_072),
            ]
        );
        assert_eq!(
            table.aliases,
            [("claude-a-latest".to_owned(), "claude-a-1".to_owned())]
        );
        assert_eq!(
            table.rows[0].prices,
            Some(Prices {
                input: 3.0,
                output: 15.0,
                cache_read: Some(0.3),
                cache_write: None,
                cache_write_1h: None
            })
        );
    }
}
