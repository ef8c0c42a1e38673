//! Settings from the environment and from `--set`: bare texts, one value each.
//! Deliberately lenient about variables that nobody can have meant for a key: the prefix is shared.

use anyhow::Result;

use super::file::suggest;
use super::key::{Key, ROWS, Row, nearest};
use super::{Origin, Settings};
use crate::error::Failure;

const PREFIX: &str = "NEENEE_";

/// Applies the variables that set a key. An empty one counts as not set.
pub(super) fn apply(settings: &mut Settings, variables: &[(String, String)]) -> Result<()> {
    let names: Vec<String> = ROWS.iter().map(Row::variable).collect();
    for (name, text) in variables {
        if !name.starts_with(PREFIX) || text.trim().is_empty() {
            continue;
        }
        let Some(at) = names.iter().position(|known| known == name) else {
            refuse_typo(name, &names)?;
            continue;
        };
        let row = &ROWS[at];
        let value = row.kind.read_text(text).map_err(|what| {
            Failure::new(format!(
                "failed to read the environment variable {name}: {what}"
            ))
        })?;
        settings.set(row.key, value, Origin::Variable(name.clone()));
    }
    Ok(())
}

/// Applies one `KEY=VALUE`.
pub(super) fn assign(settings: &mut Settings, assignment: &str) -> Result<()> {
    let Some((name, text)) = assignment.split_once('=') else {
        return Err(Failure::new(format!(
            "failed to read --set {assignment}: expected KEY=VALUE"
        ))
        .fix("write it as --set compaction.prune_utilization=0.5")
        .into());
    };
    let name = name.trim();
    let row = Key::find(name).ok_or_else(|| {
        Failure::new(format!("failed to read --set: unknown key `{name}`")).fix(suggest(name))
    })?;
    let value = row
        .kind
        .read_text(text)
        .map_err(|what| Failure::new(format!("failed to read --set {name}: {what}")))?;
    settings.set(row.key, value, Origin::Flag("--set"));
    Ok(())
}

/// A variable that resembles a key's, or stands in a table of ours, is a typo.
fn refuse_typo(name: &str, names: &[String]) -> Result<()> {
    let in_table = names.iter().any(|known| {
        let table = known.split_once("__").map(|(table, _)| table);
        table.is_some() && table == name.split_once("__").map(|(table, _)| table)
    });
    // The prefix is alike in all of them and proves nothing.
    let tail = name.strip_prefix(PREFIX).unwrap_or(name);
    let tails = names.iter().filter_map(|known| known.strip_prefix(PREFIX));
    let near = nearest(tail, tails);
    if near.is_none() && !in_table {
        return Ok(());
    }
    let fix = near.map_or_else(
        || "`neenee config` lists the keys".to_owned(),
        |near| format!("did you mean {PREFIX}{near}?"),
    );
    Err(Failure::new(format!(
        "failed to read the environment variable {name}: no such key"
    ))
    .fix(fix)
    .into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::Layers;

    fn load(variables: &[(&str, &str)]) -> Result<Settings, String> {
        let owned = |&(name, text): &(&str, &str)| (name.to_owned(), text.to_owned());
        Settings::load(&Layers {
            variables: variables.iter().map(owned).collect(),
            ..Layers::default()
        })
        .map_err(|error| crate::error::tell(&error))
    }

    #[test]
    fn variables_set_keys_and_typos_are_refused() {
        let settings = load(&[
            ("NEENEE_COMPACTION__PRUNE_UTILIZATION", "0.4"),
            ("NEENEE_COMPACTION_PRUNE", "false"),
            ("NEENEE_WINDOW", " "),
            ("NEENEE_SHARED_DATA", "somebody else's"),
            ("PATH", "/bin"),
        ])
        .unwrap();
        assert_eq!(settings.policy().prune_utilization, 0.4);
        assert!(!settings.policy().prune);
        assert_eq!(settings.window(), None);
        for (variable, expected) in [
            (
                ("NEENEE_COMPACTION__PRUNE_UTILISATION", "0.4"),
                "NEENEE_COMPACTION__PRUNE_UTILISATION: no such key\n  fix: did you mean NEENEE_COMPACTION__PRUNE_UTILIZATION?",
            ),
            (
                ("NEENEE_COMPACTION__ZZZZZZZZZZZZ", "1"),
                "NEENEE_COMPACTION__ZZZZZZZZZZZZ: no such key\n  fix: `neenee config` lists the keys",
            ),
            (
                ("NEENEE_WINDOW", "many"),
                "NEENEE_WINDOW: expected a whole number from 1 up, found `many`",
            ),
        ] {
            let told = load(&[variable]).unwrap_err();
            assert!(told.contains(expected), "{told}");
        }
    }
}
