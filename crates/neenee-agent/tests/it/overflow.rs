//! A provider that says the request does not fit: recovered once before tools ran, an error after.
//! Deliberately with servers that refuse, not with numbers of ours: recovery is for when those were wrong.

use neenee_agent::journal::ProjectionKind;
use neenee_agent::provider::{ProviderErrorKind, Wire};
use neenee_agent::{AgentError, RoundEnd};
use neenee_testkit::upstream::{Op, Script, Turn};
use tokio_util::sync::CancellationToken;

use crate::support::{self, Bed, assert_recoverable};

/// Four rounds that fill the window of the server, which is smaller than the agent believes.
async fn filled(wire: Wire) -> Bed {
    let folder = support::folder();
    let words = "These are many words about nothing in particular. ";
    let rounds = ["one", "two", "three", "four"];
    let mut script = Script::new(support::root(&folder));
    for marker in rounds {
        script = script.round(marker, vec![Turn::say(words.repeat(100))]);
    }
    script = script.round("last", vec![Turn::say("It fits.")]).round(
        "work",
        vec![
            Turn::call([Op::shell("echo ran >> ran.txt; seq 2000")]),
            Turn::say("Worked."),
        ],
    );
    script.window_tokens = Some(7_500);
    let mut bed = Bed::new(folder, wire, script, 20_000, |_, _| {}).await;
    for marker in rounds {
        bed.agent
            .run(marker, &CancellationToken::new())
            .await
            .unwrap();
    }
    bed
}

#[tokio::test]
async fn before_any_tool_the_round_is_compacted_and_asked_again_once() {
    for wire in [Wire::Chat, Wire::Responses, Wire::Anthropic] {
        let mut bed = filled(wire).await;
        let words = "a long question ".repeat(400);
        let asked = format!("last {words}");
        let cancel = CancellationToken::new();
        let outcome = bed.agent.run(&asked, &cancel).await.unwrap();
        assert_eq!(
            (outcome.text.as_str(), outcome.end),
            ("It fits.", RoundEnd::Done)
        );
        assert_eq!(bed.compactions(), 1, "{wire:?}");
        let journal = bed.journal.lock().unwrap();
        assert_eq!(journal.projections(), [ProjectionKind::Compaction]);
        assert_recoverable(&journal, bed.agent.window().messages());
        // Four rounds, the refused request, the summary, the answer.
        assert_eq!(bed.bodies().len(), 7);
    }
}

#[tokio::test]
async fn after_a_tool_has_run_nothing_is_played_again() {
    let mut bed = filled(Wire::Chat).await;
    let error = bed.agent.run("work", &CancellationToken::new()).await;
    let Err(AgentError::Overflow(error)) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.kind, ProviderErrorKind::Overflow);
    let ran = std::fs::read_to_string(bed.folder.path().join("project/ran.txt")).unwrap();
    assert_eq!(ran, "ran\n");
    assert_eq!(bed.compactions(), 0);
    // The session is whole: after a compaction it goes on, and the tool is not run again.
    bed.agent
        .compact(&CancellationToken::new())
        .await
        .unwrap()
        .unwrap();
    let outcome = bed.agent.resume(&CancellationToken::new()).await.unwrap();
    assert_eq!(outcome.text, "Worked.");
    let ran = std::fs::read_to_string(bed.folder.path().join("project/ran.txt")).unwrap();
    assert_eq!(ran, "ran\n");
}

#[tokio::test]
async fn what_cannot_be_made_smaller_is_a_clear_error() {
    let folder = support::folder();
    let mut script = Script::new(support::root(&folder)).round("", vec![Turn::say("no")]);
    script.window_tokens = Some(3_000);
    let mut bed = Bed::new(folder, Wire::Chat, script, 20_000, |_, _| {}).await;
    let words = "too many words ".repeat(1_000);
    let error = bed.agent.run(&words, &CancellationToken::new()).await;
    let Err(AgentError::Provider(error)) = error else {
        panic!("{error:?}");
    };
    assert_eq!(error.kind, ProviderErrorKind::Overflow);
    assert_eq!(bed.upstream.requests().len(), 1);
}
