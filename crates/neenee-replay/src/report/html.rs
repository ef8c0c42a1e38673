//! The comparison as one page: tables, plots, and the misses to read one by one.
//! Deliberately self-contained: no script, no font, nothing fetched.

use std::fmt::Write as _;

use super::{Page, escape, grouped, outcomes, pareto, percent, turns};
use crate::money::Tariff;
use crate::needs::NeedKind;
use crate::replay::Miss;
use crate::session::{Outcome, Session};
use crate::totals::Corpus;

const STYLE: &str = "\
:root{color-scheme:light dark;--line:#8884;--faint:#777}
body{font:15px/1.5 system-ui,sans-serif;margin:0}
main{max-width:64rem;margin:auto;padding:1.5rem}
table{border-collapse:collapse;font-size:13px;width:100%}
th,td{padding:.2rem .5rem;text-align:right;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
th:first-child,td:first-child{text-align:left}
th{color:var(--faint);font-weight:600}
svg{width:100%;height:auto;margin:.5rem 0}
details{margin:.3rem 0}
summary{cursor:pointer}
pre{font-size:12px;white-space:pre-wrap;overflow-wrap:anywhere;border-left:3px solid var(--line);padding-left:.6rem;margin:.3rem 0;max-height:16rem;overflow:auto}
mark{background:#f5d76e;color:#000}
p.faint{color:var(--faint)}
";

/// One page.
pub fn html(page: &Page<'_>) -> String {
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>What pruning keeps, saves and costs</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<main>\n<h1>What pruning keeps, saves and costs</h1>\n"
    );
    for window in page.windows() {
        let sums = page.at(window);
        let (sessions, requests) = sums
            .first()
            .map_or((0, 0), |sum| (sum.sessions, sum.totals.requests));
        let _ = write!(
            out,
            "<h2>Window of {} tokens</h2>\n<p>{} sessions, {} requests from the first one over the \
             trigger on. The dashed line is what an oracle would miss and send.</p>\n{}",
            grouped(window),
            grouped(sessions),
            grouped(requests),
            pareto::pareto(&sums)
        );
        table(&mut out, &sums);
    }
    for (name, session) in page.sessions {
        one(&mut out, page, name, session);
    }
    out.push_str("</main>\n</body>\n</html>\n");
    out
}

fn table(out: &mut String, sums: &[&Corpus]) {
    let tariffs = Tariff::all();
    out.push_str(
        "<table>\n<tr><th>policy</th><th>missed</th><th>worst session</th><th>identifiers missed</th>\
         <th>tokens sent</th><th>mean</th><th>peak</th><th>stale sent</th><th>projections</th>\
         <th>requests that changed a sent message</th><th>tokens sent again</th>",
    );
    for tariff in &tariffs {
        let _ = write!(out, "<th>net $, {}</th>", tariff.model);
    }
    out.push_str("</tr>\n");
    for sum in sums {
        let totals = &sum.totals;
        let _ = write!(
            out,
            "<tr><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>\
             <td>{}</td><td>{}</td><td>{}</td>",
            escape(&sum.policy),
            percent(totals.missed_fraction()),
            percent(sum.worst),
            percent(totals.names_missed_fraction()),
            grouped(totals.sent),
            grouped(totals.mean()),
            grouped(totals.peak),
            grouped(totals.stale),
            grouped(totals.projections),
            percent(totals.changed_fraction()),
            grouped(totals.resent),
        );
        for net in &totals.net {
            let _ = write!(out, "<td>{net:.2}</td>");
        }
        out.push_str("</tr>\n");
    }
    out.push_str("</table>\n");
}

fn one(out: &mut String, page: &Page<'_>, name: &str, session: &Session) {
    let counted = session
        .outcomes
        .iter()
        .any(|outcome| outcome.totals.requests > 0);
    let _ = writeln!(
        out,
        "<h2>{}</h2>\n<p>{}, {}: {} requests, {} tool results, {} parts between compactions.{}</p>",
        escape(name),
        session.format.map_or("", |format| format.name()),
        escape(session.model.as_deref().unwrap_or("unknown model")),
        grouped(session.turns),
        grouped(session.results),
        grouped(session.segments),
        if counted {
            ""
        } else {
            " It never comes over the trigger."
        }
    );
    for window in page.windows() {
        let outcomes = outcomes(session, window);
        if outcomes.is_empty() {
            continue;
        }
        let _ = writeln!(out, "<h3>At {} tokens</h3>", grouped(window));
        if outcomes.iter().any(|outcome| !outcome.rows.is_empty()) {
            out.push_str(&turns::tokens(&outcomes));
            out.push_str(&turns::cost(&outcomes));
        }
        for outcome in outcomes {
            misses(out, outcome);
        }
    }
}

fn misses(out: &mut String, outcome: &Outcome) {
    if outcome.misses.is_empty() {
        return;
    }
    let _ = writeln!(
        out,
        "<details><summary>{}: {} of {} needed chars missed</summary>",
        escape(&outcome.policy),
        grouped(outcome.totals.missed),
        grouped(outcome.totals.needed)
    );
    for miss in &outcome.misses {
        let _ = writeln!(
            out,
            "<details><summary>turn {}, {} of result {}: <code>{}</code></summary>\n\
             <p class=\"faint\">{}, pruned as {} before turn {}. Before, and after:</p>\n\
             <pre>{}</pre>\n<pre>{}</pre></details>",
            miss.turn,
            match miss.kind {
                NeedKind::Line => "a line",
                NeedKind::Identifier => "an identifier",
            },
            miss.ordinal,
            escape(&miss.text),
            escape(&miss.label),
            miss.pruned.pass,
            miss.pruned.turn,
            marked(miss),
            escape(&miss.after),
        );
    }
    out.push_str("</details>\n");
}

/// The excerpt of the result with what was needed of it marked.
fn marked(miss: &Miss) -> String {
    match miss.before.split_once(&*miss.text) {
        Some((before, after)) => format!(
            "{}<mark>{}</mark>{}",
            escape(before),
            escape(&miss.text),
            escape(after)
        ),
        None => escape(&miss.before),
    }
}
