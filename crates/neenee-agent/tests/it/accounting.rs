//! Who counts what: the provider's count is the meter's, never the next request's pressure.
//! Deliberately about numbers only; that layers engage by them is tested beside the layers.

use neenee_agent::AgentResponse;
use neenee_agent::orchestration::{ContextMeter, Purpose, UsageSource};
use neenee_agent::provider::Wire;
use neenee_testkit::upstream::{Op, Script, Turn};
use tokio_util::sync::CancellationToken;

use crate::support::{self, Bed};

#[tokio::test]
async fn reported_usage_is_the_meter_and_not_the_pressure() {
    let folder = support::folder();
    support::file(&folder, "a.txt", 20);
    let turns = vec![Turn::call([Op::read("a.txt")]), Turn::say("Read.")];
    let mut script = Script::new(support::root(&folder)).round("go", turns);
    // A server that counts every byte: far over the threshold, which must not make anybody prune.
    script.bytes_per_token = 1;
    let mut bed = Bed::new(folder, Wire::Anthropic, script, 6_000, |_, _| {}).await;
    bed.agent
        .run("go", &CancellationToken::new())
        .await
        .unwrap();
    let bodies = bed.upstream.requests();
    let entries = bed.agent.ledger().entries();
    assert_eq!(entries.len(), 2);
    for (entry, request) in entries.iter().zip(&bodies) {
        assert_eq!(entry.source, UsageSource::Reported);
        assert_eq!(entry.purpose, Purpose::Turn);
        assert_eq!(entry.usage.input, request.body.len());
        assert!(entry.estimated_input < entry.usage.input / 2);
    }
    let meter = bed.agent.meter();
    assert_eq!(meter.used_tokens, entries[1].usage.context());
    assert_eq!(
        (meter.window_tokens, meter.source),
        (6_000, UsageSource::Reported)
    );
    assert!(bed.journal.lock().unwrap().projections().is_empty());
    assert_eq!(bed.journal.lock().unwrap().usage(), entries);
    let seen = bed.seen.lock().unwrap();
    let meters: Vec<&ContextMeter> = seen
        .iter()
        .filter_map(|response| match response {
            AgentResponse::Context(meter) => Some(meter),
            _ => None,
        })
        .collect();
    assert_eq!(meters.len(), 2);
}

#[tokio::test]
async fn compaction_on_demand_carries_the_former_summary_forward() {
    let folder = support::folder();
    let script = Script::new(support::root(&folder))
        .round("Write the checkpoint now", vec![Turn::say("They talked.")])
        .round("", vec![Turn::say("Yes. ".repeat(300))]);
    let mut bed = Bed::new(folder, Wire::Chat, script, 32_000, |options, _| {
        options.settings.policy.preserve_rounds = 1;
    })
    .await;
    let cancel = CancellationToken::new();
    let mut before = 0;
    for step in ["alpha", "beta", "gamma"] {
        bed.agent.run(step, &cancel).await.unwrap();
        bed.agent.run("more", &cancel).await.unwrap();
        before = bed.upstream.requests().len();
        let compacted = bed.agent.compact(&cancel).await.unwrap().unwrap();
        assert!(compacted.tokens_after < compacted.tokens_before);
        assert_eq!(bed.agent.window().carried(), 1);
    }
    let request = &bed.upstream.requests()[before];
    let body = String::from_utf8(request.body.clone()).unwrap();
    // The last summary is asked for with the one before it and with what came since, not with what that covers.
    assert!(body.contains("what came even earlier") && body.contains("gamma"));
    assert!(!body.contains("beta") && !body.contains("alpha"));
    assert!(!request.has_tools);
    let purposes: Vec<Purpose> = bed
        .agent
        .ledger()
        .entries()
        .iter()
        .map(|entry| entry.purpose)
        .collect();
    assert_eq!(
        purposes
            .iter()
            .filter(|purpose| **purpose == Purpose::Summary)
            .count(),
        3
    );
    assert_eq!(bed.compactions(), 3);
}
