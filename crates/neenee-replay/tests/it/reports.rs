//! JSON, page and plots of one comparison.
//! Deliberately no golden files: what has to stand in them is asked for.

use neenee_replay::report::{self, Page};
use neenee_replay::{Comparison, Corpus, Ground, Session, Spec, compare};

use crate::{Made, code, line_of};

fn compared() -> (Vec<Corpus>, Vec<(String, Session)>) {
    let mut made = Made::new().read("src/<a>.rs", &code("alpha", 80));
    for number in 0..8 {
        made = made.bash(&format!("step {number}"), &code(&format!("s{number}"), 80));
    }
    let made = made
        .edit("src/<a>.rs", &line_of("alpha", 40), "x")
        .say("done");
    let mut forgetful = Spec::plain("oracle");
    forgetful.params.set("forget", "0.5");
    let comparison = Comparison {
        windows: vec![6_000, 8_000],
        specs: vec![
            Spec::plain("none"),
            Spec::plain("keep-last-n"),
            Spec::plain("oracle"),
            forgetful,
        ],
        rows: true,
        misses: 10,
        ..Comparison::default()
    };
    let ground = |_: &neenee_wire::Document<'_>| Ok::<_, ()>(Ground::new(6_000));
    let session = compare(&made.body(), &comparison, ground).unwrap();
    let mut sums = Vec::new();
    report::add(&mut sums, &session);
    (sums, vec![("a <session>".to_owned(), session)])
}

#[test]
fn a_session_is_told_as_json() {
    let (sums, sessions) = compared();
    let value = report::session(&sessions[0].0, &sessions[0].1);
    assert_eq!(value["session"], "a <session>");
    assert_eq!(value["format"], "openai-chat");
    assert_eq!(value["requests"], 11);
    let outcomes = value["outcomes"].as_array().unwrap();
    assert_eq!(outcomes.len(), 8);
    let keep = &outcomes[1];
    assert_eq!(keep["policy"], "keep-last-n");
    assert_eq!(keep["misses"][0]["pass"], "old");
    assert_eq!(keep["misses"][0]["label"], "Read src/<a>.rs");
    assert_eq!(keep["totals"]["missed"], line_of("alpha", 40).len());
    assert_eq!(outcomes[3]["policy"], "oracle forget=0.5");
    let corpus = serde_json::to_value(&sums[1]).unwrap();
    assert_eq!(corpus["sessions"], 1);
    assert_eq!(corpus["worst"], 1.0);
}

#[test]
fn the_page_holds_tables_plots_and_misses_and_fetches_nothing() {
    let (sums, sessions) = compared();
    let page = report::html(&Page {
        sums: &sums,
        sessions: &sessions,
    });
    assert_eq!(
        page.matches("<svg").count(),
        2 + 2 * 2,
        "a Pareto plot and two lines a window"
    );
    assert!(page.contains("a &lt;session&gt;") && !page.contains("<session>"));
    assert!(page.contains(&format!(
        "<mark>{}</mark>",
        line_of("alpha", 40).replace('"', "&quot;")
    )));
    assert!(page.contains("[tool result cleared]"));
    assert!(page.contains("stroke-dasharray"));
    for foreign in ["<script", "src=", "href=", "url(", "@import"] {
        assert!(!page.contains(foreign), "{foreign}");
    }
}

#[test]
fn plots_are_files_of_their_own() {
    let (sums, sessions) = compared();
    let files = report::svg(&Page {
        sums: &sums,
        sessions: &sessions,
    });
    let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "pareto-6000.svg",
            "tokens-6000-1.svg",
            "cost-6000-1.svg",
            "pareto-8000.svg",
            "tokens-8000-1.svg",
            "cost-8000-1.svg"
        ]
    );
    for (name, svg) in &files {
        assert!(
            svg.starts_with("<svg") && svg.ends_with("</svg>\n"),
            "{name}"
        );
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{name}");
    }
    assert!(files[0].1.contains(">keep-last-n</text>"));
    assert_eq!(files[0].1.matches("<circle").count(), 3);
}
