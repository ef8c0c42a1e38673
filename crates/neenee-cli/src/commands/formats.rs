//! `neenee formats`: which formats can be read and written back.
//! Deliberately from the codecs' own table.

use anyhow::Result;
use neenee_wire::Format;
use serde::Serialize;

use crate::cli::ListArgs;
use crate::output;
use crate::render::table::{Tone, left, table};

#[derive(Serialize)]
struct FormatRow {
    name: &'static str,
    description: &'static str,
}

pub(super) fn run(args: &ListArgs, colour: bool) -> Result<()> {
    let rows: Vec<FormatRow> = Format::all()
        .map(|format| FormatRow {
            name: format.name(),
            description: format.describe(),
        })
        .collect();
    if args.json {
        return output::json(&rows);
    }
    let rows: Vec<(Tone, Vec<String>)> = rows
        .into_iter()
        .map(|row| {
            (
                Tone::Plain,
                vec![row.name.to_owned(), row.description.to_owned()],
            )
        })
        .collect();
    output::stdout(table(&[left("format"), left("what it is")], &rows, colour).as_bytes())
}
