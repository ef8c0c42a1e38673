//! Tables: a header, rows, columns that line up.
//! Deliberately without frames, so that a line of it can be cut and searched.

use comfy_table::{Attribute, Cell, CellAlignment, Color, ContentArrangement, Table};

use super::text::line;

/// A column.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Column {
    name: &'static str,
    align: CellAlignment,
}

/// What a row is like, as a colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing to note.
    Plain,
    /// Nothing happens to it.
    Faint,
    /// Some of it goes.
    Some,
    /// It goes.
    Strong,
}

/// A column of text.
pub(crate) const fn left(name: &'static str) -> Column {
    Column {
        name,
        align: CellAlignment::Left,
    }
}

/// A column of numbers.
pub(crate) const fn right(name: &'static str) -> Column {
    Column {
        name,
        align: CellAlignment::Right,
    }
}

/// The table as text, each line ended. On a terminal it is fitted into its width.
pub(crate) fn table(columns: &[Column], rows: &[(Tone, Vec<String>)], colour: bool) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_content_arrangement(ContentArrangement::Dynamic);
    if colour {
        table.enforce_styling();
    } else {
        table.force_no_tty();
        if let Some(width) = terminal_width() {
            table.set_width(width);
        }
    }
    table.set_header(columns.iter().map(|column| {
        let cell = Cell::new(column.name).set_alignment(column.align);
        if colour {
            cell.add_attribute(Attribute::Bold)
        } else {
            cell
        }
    }));
    for (tone, cells) in rows {
        table.add_row(columns.iter().zip(cells).map(|(column, text)| {
            let cell = Cell::new(line(text)).set_alignment(column.align);
            if colour { tint(cell, *tone) } else { cell }
        }));
    }
    for column in table.column_iter_mut() {
        column.set_padding((0, 2));
    }
    let mut text = String::new();
    for row in table.lines() {
        text.push_str(row.trim_end());
        text.push('\n');
    }
    text
}

fn tint(cell: Cell, tone: Tone) -> Cell {
    match tone {
        Tone::Plain => cell,
        Tone::Faint => cell.add_attribute(Attribute::Dim),
        Tone::Some => cell.fg(Color::Yellow),
        Tone::Strong => cell.fg(Color::Red),
    }
}

/// The width of the terminal that stdout is.
fn terminal_width() -> Option<u16> {
    Table::new().width()
}
