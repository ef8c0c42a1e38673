//! A replayed session as JSON.
//! Deliberately a shape of its own: what programs read does not change with types in here.

use serde_json::{Value, json};

use crate::money::Tariff;
use crate::needs::NeedKind;
use crate::replay::{Miss, Row};
use crate::session::{Outcome, Session};

/// One session: what it is, and the outcome of each window and policy.
pub fn session(name: &str, session: &Session) -> Value {
    let tariffs: Vec<&str> = Tariff::all().iter().map(|tariff| tariff.model).collect();
    json!({
        "session": name,
        "format": session.format.map(|format| format.name()),
        "model": session.model,
        "segments": session.segments,
        "requests": session.turns,
        "results": session.results,
        "prices_of": tariffs,
        "outcomes": session.outcomes.iter().map(outcome).collect::<Vec<_>>(),
    })
}

fn outcome(outcome: &Outcome) -> Value {
    json!({
        "window": outcome.window,
        "policy": outcome.policy,
        "totals": outcome.totals,
        "missed_fraction": outcome.totals.missed_fraction(),
        "misses": outcome.misses.iter().map(miss).collect::<Vec<_>>(),
        "rows": outcome.rows.iter().map(row).collect::<Vec<_>>(),
    })
}

fn miss(miss: &Miss) -> Value {
    json!({
        "turn": miss.turn,
        "result": miss.ordinal,
        "label": miss.label,
        "kind": match miss.kind {
            NeedKind::Line => "line",
            NeedKind::Identifier => "identifier",
        },
        "text": miss.text,
        "chars": miss.chars,
        "pass": miss.pruned.pass,
        "pruned_before_turn": miss.pruned.turn,
        "before": miss.before,
        "after": miss.after,
    })
}

fn row(row: &Row) -> Value {
    json!({
        "turn": row.turn,
        "sent": row.sent,
        "whole": row.whole,
        "reclaimed": row.reclaimed,
        "edits": row.edits,
        "resent": row.resent,
        "needed": row.needed,
        "missed": row.missed,
        "cost": row.cost,
    })
}
