//! `neenee config`: every setting as resolved, and where it came from.
//! Deliberately a valid configuration file itself, with the origins as comments.

use std::fmt::Write as _;

use anyhow::Result;
use serde_json::{Map, Value as Json, json};

use crate::cli::ListArgs;
use crate::output;
use crate::render::number::counted;
use crate::settings::{Origin, ROWS, Settings, Value};

pub(super) fn run(args: &ListArgs, settings: &Settings) -> Result<()> {
    if args.json {
        output::json(&as_json(settings))
    } else {
        output::stdout(as_toml(settings).as_bytes())
    }
}

fn as_toml(settings: &Settings) -> String {
    let mut text = String::new();
    for place in &settings.places {
        let state = if place.exists { "" } else { " (not there)" };
        let _ = writeln!(text, "# {}: {}{state}", place.layer, place.path.display());
    }
    for rows in &settings.tools {
        let _ = writeln!(
            text,
            "# {} from {}, line {}",
            counted(rows.count, "row") + " of [[tool]]",
            rows.path.display(),
            rows.line
        );
    }
    let mut current = None;
    for row in ROWS.iter().filter(|row| !row.name.contains('.')) {
        line(&mut text, settings, row.name, row);
    }
    for row in ROWS {
        let Some((table, name)) = row.name.split_once('.') else {
            continue;
        };
        if current != Some(table) {
            let _ = writeln!(text, "\n[{table}]");
            current = Some(table);
        }
        line(&mut text, settings, name, row);
    }
    text
}

fn line(text: &mut String, settings: &Settings, name: &str, row: &crate::settings::Row) {
    let setting = settings.get(row.key);
    let _ = match settings.shown(row.key) {
        Some(value) => writeln!(text, "{name} = {value}  # {}", setting.origin),
        None => writeln!(text, "# {name} is not set"),
    };
}

fn as_json(settings: &Settings) -> Json {
    let values: Map<String, Json> = ROWS
        .iter()
        .map(|row| {
            let setting = settings.get(row.key);
            let value = match settings.shown(row.key) {
                None => Json::Null,
                Some(Value::Switch(on)) => json!(on),
                Some(Value::Count(count)) => json!(count),
                Some(Value::Fraction(fraction)) => json!(fraction),
                Some(Value::Text(text)) => json!(text),
                Some(Value::List(texts)) => json!(texts),
            };
            let from = match &setting.origin {
                Origin::Default => json!({ "kind": "default" }),
                Origin::File { path, line } => {
                    json!({ "kind": "file", "path": path.to_string_lossy(), "line": line })
                }
                Origin::Variable(name) => json!({ "kind": "variable", "name": name }),
                Origin::Flag(flag) => json!({ "kind": "flag", "name": flag }),
            };
            (
                row.name.to_owned(),
                json!({ "value": value, "from": from, "about": row.about }),
            )
        })
        .collect();
    let files: Vec<Json> = settings
        .places
        .iter()
        .map(|place| {
            json!({
                "layer": place.layer,
                "path": place.path.to_string_lossy(),
                "exists": place.exists,
            })
        })
        .collect();
    let tools: Vec<Json> = settings
        .tools
        .iter()
        .map(|rows| {
            json!({ "path": rows.path.to_string_lossy(), "line": rows.line, "rows": rows.count })
        })
        .collect();
    json!({ "settings": values, "files": files, "tools": tools })
}
