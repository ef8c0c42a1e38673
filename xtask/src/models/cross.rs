//! Where genai-prices says something else than the table.
//! Deliberately no judgement: which of the two is right is for a person to find out.

use super::python::{self, Value};
use super::{Prices, Row, Table};
use anyhow::Context as _;

/// Our names of makers and theirs.
const PROVIDERS: &[(&str, &str)] = &[
    ("anthropic", "anthropic"),
    ("deepseek", "deepseek"),
    ("google", "google"),
    ("minimax", "minimax"),
    ("mistral", "mistral"),
    ("moonshot", "moonshotai"),
    ("openai", "openai"),
    ("xai", "x-ai"),
    ("zai", "zai"),
];

/// A model of genai-prices.
pub(super) struct Theirs {
    provider: String,
    id: String,
    matches: Value,
    window: Option<u32>,
    prices: Option<Prices>,
}

/// Both tables' words on one thing.
pub(super) struct Disagreement {
    pub(super) model: String,
    pub(super) what: &'static str,
    pub(super) ours: String,
    pub(super) theirs: String,
}

/// What was compared, and where the two differ.
pub(super) struct Comparison {
    pub(super) compared: usize,
    pub(super) disagreements: Vec<Disagreement>,
}

/// Reads `data.py` of genai-prices, with the prices that held on `day` (`2026-11-20`).
pub(super) fn read(text: &str, day: &str) -> anyhow::Result<Vec<Theirs>> {
    let start = text
        .find("providers: list[Provider] =")
        .context("failed to read genai-prices: no `providers: list[Provider] =` in it")?;
    let list = text[start..].find("= [").map_or(start, |at| start + at + 2);
    let mut models = Vec::new();
    for provider in python::parse(&text[list..])?.items() {
        let id = provider.get("id").and_then(Value::text).unwrap_or_default();
        for model in provider.get("models").map_or(&[][..], Value::items) {
            let window = model.get("context_window").and_then(Value::number);
            models.push(Theirs {
                provider: id.to_owned(),
                id: model
                    .get("id")
                    .and_then(Value::text)
                    .unwrap_or_default()
                    .to_owned(),
                matches: model
                    .get("match")
                    .cloned()
                    .unwrap_or(Value::List(Vec::new())),
                window: window.map(|window| window as u32),
                prices: model.get("prices").and_then(|value| prices(value, day)),
            });
        }
    }
    anyhow::ensure!(
        !models.is_empty(),
        "failed to read genai-prices: no models in it"
    );
    Ok(models)
}

/// Compares the rows of makers that both have.
pub(super) fn compare(table: &Table, theirs: &[Theirs]) -> Comparison {
    let mut comparison = Comparison {
        compared: 0,
        disagreements: Vec::new(),
    };
    // A variant differs from its row in what they do not have.
    for row in table.rows.iter().filter(|row| !row.name.ends_with(']')) {
        let Some((_, provider)) = PROVIDERS.iter().find(|(ours, _)| *ours == row.provider) else {
            continue;
        };
        let of_provider = || theirs.iter().filter(|model| model.provider == *provider);
        let Some(model) = of_provider()
            .find(|model| model.id == row.name)
            .or_else(|| of_provider().find(|model| holds(&model.matches, &row.name)))
        else {
            continue;
        };
        comparison.compared += 1;
        comparison.disagreements.extend(differences(row, model));
    }
    comparison
}

fn differences(row: &Row, model: &Theirs) -> Vec<Disagreement> {
    let mut found = Vec::new();
    let mut note = |what, ours: String, theirs: String| {
        found.push(Disagreement {
            model: row.name.clone(),
            what,
            ours,
            theirs,
        });
    };
    // Theirs is the whole window; ours may leave out what is kept for the answer.
    let whole = row.input_window + row.max_output.unwrap_or(0);
    if let Some(window) = model.window
        && !(row.input_window..=whole).contains(&window)
        // 128 000 and 131 072 are two ways to say 128k.
        && !near(f64::from(window), f64::from(row.input_window), 0.05)
    {
        note("window", row.input_window.to_string(), window.to_string());
    }
    if let (Some(ours), Some(theirs)) = (row.prices, model.prices) {
        let pairs = [
            ("input", Some(ours.input), Some(theirs.input)),
            ("output", Some(ours.output), Some(theirs.output)),
            ("cache read", ours.cache_read, theirs.cache_read),
            ("cache write", ours.cache_write, theirs.cache_write),
            (
                "cache write, 1 h",
                ours.cache_write_1h,
                theirs.cache_write_1h,
            ),
        ];
        for (what, ours, theirs) in pairs {
            // A price that only one of them has is a gap, not a disagreement.
            if let (Some(ours), Some(theirs)) = (ours, theirs)
                && !near(ours, theirs, 0.001)
            {
                note(what, format!("$ {ours}"), format!("$ {theirs}"));
            }
        }
    }
    found
}

fn near(left: f64, right: f64, tolerance: f64) -> bool {
    (left - right).abs() <= tolerance * left.abs().max(right.abs())
}

/// The prices that hold on a day without a condition on the request: of several, the last begun.
fn prices(value: &Value, day: &str) -> Option<Prices> {
    let holds = |item: &&Value| match item.get("constraint") {
        None => true,
        Some(constraint) if constraint.callee() == "StartDateConstraint" => constraint
            .get("start_date")
            .is_some_and(|start| date(start).as_str() <= day),
        Some(_) => false,
    };
    let value = match value {
        Value::List(conditional) => conditional.iter().rev().find(holds)?.get("prices")?,
        value => value,
    };
    let price = |name: &str| {
        let price = value.get(name)?;
        price.number().or_else(|| price.get("base")?.number())
    };
    Some(Prices {
        input: price("input_mtok")?,
        output: price("output_mtok")?,
        cache_read: price("cache_read_mtok"),
        cache_write: price("cache_write_mtok"),
        cache_write_1h: price("cache_write_1h_mtok"),
    })
}

/// `2026-03-13` of `datetime.date(2026, 3, 13)`.
fn date(value: &Value) -> String {
    let Value::Call(_, parts) = value else {
        return String::new();
    };
    let parts: Vec<String> = parts
        .iter()
        .filter_map(|(_, part)| part.number())
        .map(|part| format!("{part:02}"))
        .collect();
    parts.join("-")
}

/// Whether their clause takes the name. Regular expressions there are for dates, which ours lack.
fn holds(clause: &Value, name: &str) -> bool {
    let text = |key: &str| clause.get(key).and_then(Value::text);
    let any = || clause.get("or_").map_or(&[][..], Value::items);
    let all = || clause.get("and_").map_or(&[][..], Value::items);
    match clause.callee() {
        "ClauseEquals" => text("equals") == Some(name),
        "ClauseStartsWith" => text("starts_with").is_some_and(|start| name.starts_with(start)),
        "ClauseEndsWith" => text("ends_with").is_some_and(|end| name.ends_with(end)),
        "ClauseContains" => text("contains").is_some_and(|part| name.contains(part)),
        "ClauseOr" => any().iter().any(|clause| holds(clause, name)),
        "ClauseAnd" => !all().is_empty() && all().iter().all(|clause| holds(clause, name)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const DATA: &str = "
providers: list[Provider] = [
    Provider(id='anthropic', models=[
        ModelInfo(
            id='claude-a',
            match=ClauseOr(or_=[ClauseStartsWith(starts_with='claude-a'), ClauseEquals(equals='a')]),
            context_window=200000,
            prices=[
                ConditionalPrice(prices=ModelPrice(input_mtok=Decimal('9'), output_mtok=Decimal('9'))),
                ConditionalPrice(
                    constraint=StartDateConstraint(start_date=datetime.date(2026, 3, 13)),
                    prices=ModelPrice(
                        input_mtok=TieredPrices(base=Decimal('3'), tiers=[Tier(start=1, price=Decimal('6'))]),
                        output_mtok=Decimal('15'), cache_read_mtok=Decimal('0.3'),
                    ),
                ),
                ConditionalPrice(
                    constraint=StartDateConstraint(start_date=datetime.date(2027, 1, 1)),
                    prices=ModelPrice(input_mtok=Decimal('2'), output_mtok=Decimal('2')),
                ),
                ConditionalPrice(
                    constraint=TimeOfDateConstraint(start_time=datetime.time(0, 0)),
                    prices=ModelPrice(input_mtok=Decimal('1'), output_mtok=Decimal('1')),
                ),
            ],
        ),
    ]),
]
";

    fn row(name: &str, input_window: u32, cache_read: f64) -> Row {
        Row {
            name: name.to_owned(),
            provider: "anthropic".to_owned(),
            input_window,
            max_output: Some(8_000),
            prices: Some(Prices {
                input: 3.0,
                output: 15.0,
                cache_read: Some(cache_read),
                cache_write: Some(1.0),
                cache_write_1h: None,
            }),
        }
    }

    #[test]
    fn only_what_both_say_differently_is_named() {
        let theirs = read(DATA, "2026-11-20").unwrap();
        let table = Table {
            rows: vec![
                row("claude-a-2", 192_000, 0.3),
                row("claude-a-3", 100_000, 0.25),
                row("claude-b", 1, 1.0),
            ],
            aliases: Vec::new(),
        };
        let comparison = compare(&table, &theirs);
        assert_eq!(comparison.compared, 2);
        let found: Vec<(&str, &str, &str, &str)> = comparison
            .disagreements
            .iter()
            .map(|found| {
                (
                    found.model.as_str(),
                    found.what,
                    found.ours.as_str(),
                    found.theirs.as_str(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("claude-a-3", "window", "100000", "200000"),
                ("claude-a-3", "cache read", "$ 0.25", "$ 0.3"),
            ]
        );
    }
}
