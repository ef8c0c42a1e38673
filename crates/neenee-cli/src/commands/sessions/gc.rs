//! Garbage collection: the plan, and with --yes its execution.
//! Deliberately the same plan in both, computed once.

use anyhow::Result;
use neenee_store::SessionStore;
use neenee_store::retention::{Retention, RetentionPlan, plan};
use serde_json::json;

use super::list::{json_row, time};
use crate::cli::GcArgs;
use crate::output;
use crate::render::number::{counted, grouped};
use crate::render::table::{Tone, left, right, table};

pub(super) fn run(store: &SessionStore, args: &GcArgs, colour: bool) -> Result<()> {
    let retention = Retention {
        keep: args.keep,
        max_bytes: args.max_size,
    };
    let plan = plan(&store.sessions()?, &retention, jiff::Timestamp::now());
    let ids: Vec<_> = plan
        .remove
        .iter()
        .map(|removal| removal.session.id)
        .collect();
    let mut swept = None;
    if args.yes {
        if !ids.is_empty() {
            store.remove(&ids)?;
        }
        swept = Some(store.sweep()?);
    }
    if args.json {
        return output::json(&json!({
            "remove": plan.remove.iter().map(|removal| {
                let mut row = json_row(&removal.session);
                row["reason"] = removal.reason.to_string().into();
                row["forks_stay"] = removal.forks_stay.into();
                row
            }).collect::<Vec<_>>(),
            "in_use": plan.in_use.iter().map(json_row).collect::<Vec<_>>(),
            "stay": plan.stay,
            "removed": swept.map(|swept| json!({
                "sessions": swept.sessions,
                "originals": swept.bodies,
                "bytes": swept.bytes,
            })),
        }));
    }
    output::stdout(rows(&plan, colour).as_bytes())?;
    output::note(&match swept {
        None if ids.is_empty() => format!("nothing would go of {}", counted(plan.stay, "session")),
        None => format!(
            "{} would go, {} stay; carry it out with --yes",
            counted(ids.len(), "session"),
            grouped(plan.stay)
        ),
        Some(swept) => format!(
            "{} went with {} that nothing else needs: {} can be used again",
            counted(ids.len(), "session"),
            counted(swept.bodies as usize, "original"),
            counted(swept.bytes as usize, "byte"),
        ),
    });
    Ok(())
}

fn rows(plan: &RetentionPlan, colour: bool) -> String {
    if plan.remove.is_empty() && plan.in_use.is_empty() {
        return String::new();
    }
    let columns = [
        left("session"),
        left("last written"),
        right("bytes"),
        left("why"),
    ];
    let going = plan.remove.iter().map(|removal| {
        let why = if removal.forks_stay > 0 {
            format!(
                "{}; what {} share stays",
                removal.reason,
                counted(removal.forks_stay, "fork")
            )
        } else {
            removal.reason.to_string()
        };
        (Tone::Strong, &removal.session, why)
    });
    let staying = plan
        .in_use
        .iter()
        .map(|session| (Tone::Faint, session, "stays: it is in use".to_owned()));
    let rows: Vec<_> = going
        .chain(staying)
        .map(|(tone, session, why)| {
            let cells = vec![
                session.label(),
                time(session.used),
                grouped(session.bytes as usize),
                why,
            ];
            (tone, cells)
        })
        .collect();
    table(&columns, &rows, colour)
}
