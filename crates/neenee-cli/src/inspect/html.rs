//! A survey as one self-contained page: a treemap of the window, tokens over turns, the lists.
//! Deliberately no script and no outside request: it opens from a mail or an archive as it is.

use std::fmt::Write;

use super::chart::percent;
use super::survey::{Kind, Row, State, Survey, biggest};
use super::text::Heading;
use super::treemap::{Rect, layout};
use crate::render::number::grouped;

const WIDTH: f64 = 1_200.0;
const HEIGHT: f64 = 640.0;
const CHART_HEIGHT: f64 = 220.0;
const STYLE: &str = include_str!("page.css");

/// Renders one page for several files.
pub(crate) fn render(surveys: &[(Heading<'_>, &Survey)]) -> String {
    let mut out = String::new();
    let title = match surveys {
        [(heading, _)] => escape(heading.file),
        _ => format!("{} sessions", surveys.len()),
    };
    let _ = write!(
        out,
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>What fills the window: {title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    );
    for (heading, survey) in surveys {
        session(&mut out, heading, survey);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn session(out: &mut String, heading: &Heading<'_>, survey: &Survey) {
    let budget = &survey.budget;
    let _ = write!(
        out,
        "<section>\n<h1>{}</h1>\n<p>{}, {}: {} messages, {} tool calls, {} results</p>\n",
        escape(heading.file),
        escape(heading.format),
        escape(heading.model.unwrap_or("unknown model")),
        grouped(survey.messages),
        grouped(survey.calls),
        grouped(survey.results.len()),
    );
    let _ = writeln!(
        out,
        "<p><strong>{}</strong> of {} tokens ({}; {}). Prune threshold {}, compact threshold {}. \
         Pruning now would give back <strong>{}</strong> tokens.</p>",
        grouped(survey.tokens),
        grouped(budget.window_tokens),
        percent(survey.tokens, budget.window_tokens),
        escape(heading.window_from),
        grouped(budget.prune_threshold_tokens),
        grouped(budget.compact_threshold_tokens),
        grouped(survey.prunable_tokens),
    );
    out.push_str("<h2>The window</h2>\n");
    legend(out);
    treemap(out, survey);
    out.push_str("<h2>Tokens over turns</h2>\n");
    turns(out, survey);
    let kinds = survey
        .kinds
        .iter()
        .map(|(kind, share)| (kind.name().to_owned(), *share));
    table(out, "By kind", kinds, survey.tokens);
    table(
        out,
        "Results by tool",
        survey.tools.iter().take(heading.top).cloned(),
        survey.tokens,
    );
    table(
        out,
        "Results by file",
        survey.files.iter().take(heading.top).cloned(),
        survey.tokens,
    );
    largest(out, &biggest(survey, heading.top));
    out.push_str("</section>\n");
}

fn legend(out: &mut String) {
    out.push_str("<ul class=\"legend\">\n");
    for state in State::ALL {
        let _ = writeln!(
            out,
            "<li><span class=\"chip {}\"></span>{}</li>",
            class(state),
            state.name()
        );
    }
    out.push_str("<li><span class=\"chip other\"></span>everything but tool results</li>\n</ul>\n");
}

/// A tile of the treemap.
struct Tile {
    weight: usize,
    class: &'static str,
    label: String,
    title: String,
}

/// Kinds are one tile each; results are grouped by tool, one tile a result.
fn treemap(out: &mut String, survey: &Survey) {
    let mut groups: Vec<(String, Vec<Tile>)> = survey
        .kinds
        .iter()
        .filter(|(kind, share)| *kind != Kind::Results && share.tokens > 0)
        .map(|(kind, share)| {
            let tile = Tile {
                weight: share.tokens,
                class: "other",
                label: kind.name().to_owned(),
                title: format!("{}: {} tokens", kind.name(), grouped(share.tokens)),
            };
            (String::new(), vec![tile])
        })
        .collect();
    for (tool, _) in &survey.tools {
        let mut tiles: Vec<Tile> = survey
            .results
            .iter()
            .filter(|row| row.tool == *tool && row.decision.tokens.before > 0)
            .map(tile)
            .collect();
        tiles.sort_by_key(|tile| std::cmp::Reverse(tile.weight));
        groups.push((tool.clone(), tiles));
    }
    let weight = |tiles: &[Tile]| tiles.iter().map(|tile| tile.weight).sum::<usize>();
    groups.retain(|(_, tiles)| weight(tiles) > 0);
    groups.sort_by_key(|(_, tiles)| std::cmp::Reverse(weight(tiles)));
    let _ = writeln!(
        out,
        "<svg class=\"map\" viewBox=\"0 0 {WIDTH} {HEIGHT}\" role=\"img\" aria-label=\"Treemap of the window by tool\">"
    );
    let weights: Vec<f64> = groups
        .iter()
        .map(|(_, tiles)| weight(tiles) as f64)
        .collect();
    let frame = Rect {
        x: 0.0,
        y: 0.0,
        w: WIDTH,
        h: HEIGHT,
    };
    for ((name, tiles), rect) in groups.iter().zip(layout(&weights, frame)) {
        let inner = if name.is_empty() {
            rect
        } else {
            rect.inset(1.0, 16.0)
        };
        if !name.is_empty() && rect.h > 16.0 {
            caption(out, rect, name, "tool");
        }
        let weights: Vec<f64> = tiles.iter().map(|tile| tile.weight as f64).collect();
        for (tile, rect) in tiles.iter().zip(layout(&weights, inner)) {
            if rect.w < 0.5 || rect.h < 0.5 {
                continue;
            }
            let _ = write!(
                out,
                "<g><title>{}</title><rect class=\"{}\" x=\"{:.1}\" y=\"{:.1}\" width=\"{:.1}\" height=\"{:.1}\"/>",
                escape(&tile.title),
                tile.class,
                rect.x,
                rect.y,
                rect.w,
                rect.h
            );
            caption(out, rect, &tile.label, "tile");
            out.push_str("</g>\n");
        }
    }
    out.push_str("</svg>\n");
}

fn tile(row: &Row) -> Tile {
    Tile {
        weight: row.decision.tokens.before,
        class: class(row.state),
        label: short(&row.label).to_owned(),
        title: format!(
            "#{} {}\n{} tokens, {} chars\n{}: {}",
            row.decision.ordinal,
            row.label,
            grouped(row.decision.tokens.before),
            grouped(row.decision.chars.before),
            row.state.name(),
            row.decision.reason,
        ),
    }
}

/// What tells a tile from its neighbours: the tool stands over them, and paths of one tree begin alike.
fn short(label: &str) -> &str {
    let argument = label
        .split_once(' ')
        .map_or(label, |(_, argument)| argument);
    let is_path = !argument.contains(char::is_whitespace);
    let name = argument.rsplit(['/', '\\']).next();
    name.filter(|name| is_path && !name.is_empty())
        .unwrap_or(argument)
}

/// Text in the rectangle's corner, as much as its width holds; none where it is too small.
fn caption(out: &mut String, rect: Rect, text: &str, class: &str) {
    let fits = ((rect.w - 6.0) / 6.6) as usize;
    if rect.h < 14.0 || fits < 3 {
        return;
    }
    let shown: String = if text.chars().count() > fits {
        text.chars().take(fits - 1).chain(['…']).collect()
    } else {
        text.to_owned()
    };
    let _ = write!(
        out,
        "<text class=\"{class}\" x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        rect.x + 3.0,
        rect.y + 12.0,
        escape(&shown)
    );
}

fn turns(out: &mut String, survey: &Survey) {
    let budget = &survey.budget;
    let most = survey
        .turns
        .iter()
        .copied()
        .max()
        .unwrap_or(0)
        .max(budget.prune_threshold_tokens)
        .max(1);
    let top = most as f64 * 1.08;
    let y = |tokens: usize| CHART_HEIGHT - tokens as f64 / top * CHART_HEIGHT;
    let last = survey.turns.len().saturating_sub(1).max(1) as f64;
    let mut path = format!("M0 {CHART_HEIGHT}");
    for (turn, &tokens) in survey.turns.iter().enumerate() {
        let _ = write!(path, "L{:.1} {:.1}", turn as f64 / last * WIDTH, y(tokens));
    }
    let _ = write!(path, "L{WIDTH} {CHART_HEIGHT}Z");
    let _ = writeln!(
        out,
        "<svg class=\"turns\" viewBox=\"0 0 {WIDTH} {CHART_HEIGHT}\" role=\"img\" \
         aria-label=\"Tokens in the window at each of {} turns\"><path class=\"area\" d=\"{path}\"/>",
        survey.turns.len()
    );
    let lines = [
        ("prune", budget.prune_threshold_tokens),
        ("compact", budget.compact_threshold_tokens),
        ("window", budget.window_tokens),
    ];
    for (name, tokens) in lines {
        if (tokens as f64) < top {
            let _ = writeln!(
                out,
                "<line class=\"{name}\" x1=\"0\" x2=\"{WIDTH}\" y1=\"{0:.1}\" y2=\"{0:.1}\"/>\
                 <text class=\"mark\" x=\"4\" y=\"{1:.1}\">{name} {2}</text>",
                y(tokens),
                (y(tokens) - 4.0).max(11.0),
                grouped(tokens)
            );
        }
    }
    out.push_str("</svg>\n");
}

fn table(
    out: &mut String,
    title: &str,
    rows: impl Iterator<Item = (String, super::survey::Share)>,
    whole: usize,
) {
    let _ = write!(
        out,
        "<h2>{title}</h2>\n<table>\n<tr><th></th><th>count</th><th>tokens</th><th>share</th></tr>\n"
    );
    for (name, share) in rows.filter(|(_, share)| share.count > 0) {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
            escape(&name),
            grouped(share.count),
            grouped(share.tokens),
            percent(share.tokens, whole)
        );
    }
    out.push_str("</table>\n");
}

fn largest(out: &mut String, rows: &[&Row]) {
    out.push_str("<h2>Biggest results</h2>\n<table>\n<tr><th>result</th><th>#</th><th>tokens</th><th>state</th></tr>\n");
    for row in rows {
        let _ = writeln!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td><span class=\"chip {}\"></span>{}</td></tr>",
            escape(&row.label),
            row.decision.ordinal,
            grouped(row.decision.tokens.before),
            class(row.state),
            row.state.name()
        );
    }
    out.push_str("</table>\n");
}

fn class(state: State) -> &'static str {
    match state {
        State::Stale | State::Duplicate => "stale",
        State::Fresh => "fresh",
        State::InPlay => "play",
        State::Recent => "recent",
        State::Protected => "protected",
        State::Tiny => "tiny",
        State::Degraded => "degraded",
    }
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Control characters other than white space are not allowed in a page at all.
            c if c.is_control() && !matches!(c, '\n' | '\t') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
