//! Five hundred turns in a window of 32 000 tokens: it never overflows and nothing is lost.
//! Deliberately counts what is sent by bytes of the body, which is another measure than the harness's own.

use neenee_agent::RoundEnd;
use neenee_agent::journal::ProjectionKind;
use neenee_agent::provider::Wire;
use neenee_testkit::upstream::{Op, Script, Turn};
use tokio_util::sync::CancellationToken;

use crate::support::{self, Bed, assert_recoverable};

const WINDOW: usize = 32_000;
const TURNS: usize = 500;

/// What a day of work looks like: pages, searches, edits, commands, words in between.
pub(crate) fn turns(count: usize) -> Vec<Turn> {
    let mut turns: Vec<Turn> = (0..count - 1)
        .map(|turn| {
            let file = format!("f{}.txt", turn % 7);
            match turn % 6 {
                0 => Turn::call([Op::page(&file, 1 + (turn as u32 * 13) % 200, 120)]),
                1 => Turn::call([
                    Op::search(format!("line {}[0-9]", turn % 30), "."),
                    Op::Glob("*.txt".into()),
                    Op::page(&file, 50, 60),
                ]),
                2 => Turn::say(format!(
                    "Step {turn}: the numbers of {file} look right to me."
                ))
                .and_call([Op::shell(format!("seq {turn} {}", turn + 400))]),
                3 => Turn::call([Op::Write {
                    path: format!("new{}.txt", turn % 5),
                    content: format!("made in turn {turn}\n").repeat(20),
                }]),
                4 => Turn::call([Op::edit(
                    format!("new{}.txt", (turn - 1) % 5),
                    format!("no such text {turn}"),
                    "x",
                )]),
                _ => Turn::call([Op::read(file)]),
            }
        })
        .collect();
    turns.push(Turn::say("All done."));
    turns
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn five_hundred_turns_in_one_round_stay_in_the_window() {
    let folder = support::folder();
    for file in 0..7 {
        support::file(&folder, &format!("f{file}.txt"), 300);
    }
    let mut script = Script::new(support::root(&folder))
        .in_order()
        .round("", turns(TURNS));
    script.window_tokens = Some(WINDOW);
    let mut bed = Bed::new(folder, Wire::Chat, script, WINDOW, |_, _| {}).await;
    let outcome = bed.agent.run("Do it all.", &CancellationToken::new()).await;
    let outcome = outcome.unwrap();
    assert_eq!((outcome.end, outcome.turns), (RoundEnd::Done, TURNS));
    assert_eq!(outcome.text, "All done.");
    let requests = bed.upstream.requests();
    let mut largest = 0;
    for request in &requests {
        assert_eq!(request.problems, Vec::<String>::new());
        largest = largest.max(request.body.len() / 4);
    }
    assert!(largest <= WINDOW, "{largest}");
    for entry in bed.agent.ledger().entries() {
        assert!(entry.answered, "{entry:?}");
        assert!(entry.estimated_input <= WINDOW, "{entry:?}");
    }
    let journal = bed.journal.lock().unwrap();
    let count = |kind| {
        let kinds = journal.projections().iter();
        kinds.filter(|other| **other == kind).count()
    };
    // Both layers had to work.
    let (prunes, compactions) = (
        count(ProjectionKind::Prune),
        count(ProjectionKind::Compaction),
    );
    assert!(prunes > 0 && compactions > 0, "{prunes} {compactions}");
    assert_eq!(bed.compactions(), compactions);
    assert_recoverable(&journal, bed.agent.window().messages());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_hundred_rounds_keep_what_was_asked() {
    let folder = support::folder();
    for file in 0..7 {
        support::file(&folder, &format!("f{file}.txt"), 300);
    }
    let mut round = Vec::new();
    for number in 0..100 {
        round.push(Turn::call([Op::page(
            format!("f{}.txt", number % 7),
            1,
            150,
        )]));
        round.push(Turn::say(format!(
            "Answer {number}. {}",
            "More words. ".repeat(40)
        )));
    }
    let mut script = Script::new(support::root(&folder))
        .in_order()
        .round("", round);
    script.window_tokens = Some(WINDOW);
    let mut bed = Bed::new(folder, Wire::Anthropic, script, WINDOW, |_, _| {}).await;
    for number in 0..100 {
        let asked = format!(
            "Question {number}: {}",
            "please look at it again. ".repeat(10)
        );
        let outcome = bed
            .agent
            .run(&asked, &CancellationToken::new())
            .await
            .unwrap();
        assert!(outcome.text.starts_with(&format!("Answer {number}.")));
    }
    assert!(bed.compactions() > 0);
    let journal = bed.journal.lock().unwrap();
    assert_recoverable(&journal, bed.agent.window().messages());
    // The last six rounds are there word for word.
    let window = format!("{:?}", bed.agent.window().messages());
    for number in 95..100 {
        assert!(window.contains(&format!("Question {number}:")), "{number}");
    }
}
