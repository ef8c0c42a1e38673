//! Projections: what one does, what is refused, and that every state stays reachable.
//! Deliberately against the window that the caller saw, message by message.

use neenee_core::message::{Message, Part, Tier};
use neenee_store::{NewSession, Operation, Origin, Refusal, SessionEvent, StoreError};
use proptest::prelude::*;

use crate::conversation::{compact, prune, pruned, turn, user};
use crate::setup::{Place, each};

fn filled(place: &Place, turns: usize) -> neenee_store::Session {
    let mut session = place
        .store
        .create(NewSession::new(Origin::Agent))
        .expect("created");
    for number in 0..turns {
        if number % 4 == 0 {
            let text = format!("round {number}");
            place
                .store
                .admit(&mut session, user(&text))
                .expect("admitted");
        }
        place
            .store
            .append(&mut session, turn(number))
            .expect("appended");
    }
    session
}

#[test]
fn a_prune_replaces_the_window_and_keeps_every_original() {
    each(|place| {
        let mut session = filled(place, 24);
        let whole = session.window().to_vec();
        let projection = prune(&session, 2_000).expect("there is much to prune");
        let (small, originals) = (projection.window.clone(), projection.originals.clone());
        let seq = place
            .store
            .commit_context_projection(&mut session, projection)
            .expect("committed");
        assert_eq!(session.window(), small);
        let id = session.id();
        drop(session);

        let again = place.again();
        assert_eq!(again.window(id).expect("read"), (small.clone(), seq));
        assert_eq!(again.window_at(id, seq).expect("read"), small);
        assert_eq!(again.window_at(id, seq - 1).expect("read"), whole);
        assert_eq!(again.transcript(id).expect("read"), whole);
        for original in &originals {
            let call = original.call_id.as_deref().expect("ours have ids");
            let found = again.originals(id, call).expect("kept");
            assert!(
                found
                    .iter()
                    .any(|result| result.text == original.text && result.media == original.media),
                "{call}"
            );
        }
        let events = again.events(id).expect("events");
        let Some(SessionEvent::ContextProjectionCommitted(event)) =
            events.last().map(|event| &event.event)
        else {
            panic!("the last event is the projection");
        };
        assert_eq!(event.operation, Operation::Prune);
        assert_eq!(event.replaced, originals.len());
        assert_eq!(event.removed, 0);
        let ids: Vec<_> = originals.iter().filter_map(|o| o.call_id.clone()).collect();
        assert_eq!(event.results, ids);
        assert!(again.verify(id).expect("sound").snapshot);
    });
}

#[test]
fn a_stale_projection_is_refused() {
    each(|place| {
        let mut session = filled(place, 12);
        let projection = prune(&session, 0).expect("something to prune");
        place
            .store
            .append(&mut session, turn(12))
            .expect("appended");
        let (window, revision) = (session.window().to_vec(), session.revision());
        refused(place, &mut session, projection, |refusal| {
            matches!(refusal, Refusal::Stale { .. })
        });
        assert_eq!(
            (session.window(), session.revision()),
            (&window[..], revision)
        );
    });
}

#[test]
fn originals_that_do_not_match_are_refused() {
    each(|place| {
        let mut session = filled(place, 12);
        let good = prune(&session, 0).expect("something to prune");
        for spoil in 0..5 {
            let mut bad = good.clone();
            match spoil {
                0 => bad.originals[0].text.push('!'),
                1 => drop(bad.originals.pop()),
                2 => bad.originals[1].path = vec![999],
                3 => bad.originals[0].call_id = Some("other".to_owned()),
                _ => bad.originals.iter_mut().for_each(|original| {
                    for media in &mut original.media {
                        media.payload.push(1);
                    }
                }),
            }
            refused(place, &mut session, bad, |refusal| {
                matches!(refusal, Refusal::OriginalMismatch { .. })
            });
        }
        let mut extra = good.clone();
        let mut more = extra.originals[0].clone();
        more.path = vec![4000];
        extra.originals.push(more);
        refused(place, &mut session, extra, |refusal| {
            matches!(refusal, Refusal::OriginalOfNothing { .. })
        });
        place
            .store
            .commit_context_projection(&mut session, good)
            .expect("the good one is still good");
    });
}

#[test]
fn a_prune_that_changes_more_than_results_is_refused() {
    each(|place| {
        let mut session = filled(place, 12);
        let good = prune(&session, 0).expect("something to prune");
        for spoil in 0..4 {
            let mut bad = good.clone();
            match spoil {
                0 => bad.window[0] = user("never said"),
                1 => drop(bad.window.remove(1)),
                2 => bad.window.swap(0, 3),
                _ => bad.window.push(user("one more")),
            }
            refused(place, &mut session, bad, |refusal| {
                matches!(refusal, Refusal::NotOnlyResults { .. })
            });
        }
        let mut nothing = good;
        nothing.window = session.window().to_vec();
        nothing.originals.clear();
        refused(place, &mut session, nothing, |refusal| {
            *refusal == Refusal::Empty
        });
    });
}

#[test]
fn a_compaction_that_parts_a_pair_is_refused() {
    each(|place| {
        let mut session = filled(place, 12);
        let good = compact(&session).expect("there is a round to cut at");
        let cut = session.window().len() - good.window.len() + 1;
        for cut in [cut - 1, cut + 2] {
            let mut bad = good.clone();
            bad.window.truncate(1);
            bad.window.extend_from_slice(&session.window()[cut..]);
            refused(place, &mut session, bad, |refusal| {
                matches!(refusal, Refusal::BrokenPair { .. })
            });
        }
        let mut half = good.clone();
        half.window
            .insert(1, crate::conversation::call("half", "read", "{}"));
        refused(place, &mut session, half, |refusal| {
            matches!(refusal, Refusal::BrokenPair { .. })
        });
        place
            .store
            .commit_context_projection(&mut session, good)
            .expect("whole rounds may go");
        assert!(session.window()[0] == user("[summary of what came before]"));
    });
}

fn refused(
    place: &Place,
    session: &mut neenee_store::Session,
    projection: neenee_store::Projection,
    expected: impl Fn(&Refusal) -> bool,
) {
    let (window, revision) = (session.window().to_vec(), session.revision());
    match place.store.commit_context_projection(session, projection) {
        Err(StoreError::Refused { refusal, .. }) => assert!(expected(&refusal), "{refusal}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(session.window(), window, "a refusal changes nothing");
    assert_eq!(session.revision(), revision);
    assert_eq!(
        place.store.window(session.id()).expect("read"),
        (window, revision)
    );
}

#[test]
fn a_truncated_result_that_is_cleared_later_gives_its_whole_original() {
    each(|place| {
        let mut session = filled(place, 3);
        let whole = session.window().to_vec();
        for _ in 0..2 {
            let projection = prune(&session, 0).expect("escalates");
            place
                .store
                .commit_context_projection(&mut session, projection)
                .expect("committed");
        }
        let tiers: Vec<Tier> = results(session.window()).map(|result| result.2).collect();
        assert!(tiers.contains(&Tier::Cleared), "{tiers:?}");
        for (id, text, _) in results(&whole) {
            let found = place.store.originals(session.id(), id).expect("kept");
            assert_eq!(found[0].text, text);
        }
    });
}

fn results(messages: &[Message]) -> impl Iterator<Item = (&str, &str, Tier)> {
    messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::Result(result) => Some((
                result.call_id.as_deref()?,
                result.text.as_str(),
                result.degraded.map_or(Tier::Kept, |record| record.tier),
            )),
            _ => None,
        })
}

#[test]
fn a_window_that_was_saved_plans_as_it_did_before() {
    each(|place| {
        let mut session = filled(place, 24);
        let projection = prune(&session, 3_000).expect("much to prune");
        place
            .store
            .commit_context_projection(&mut session, projection)
            .expect("committed");
        let mut kept = session.window().to_vec();
        let mut loaded = place.again().window(session.id()).expect("read").0;
        assert_eq!(pruned(&mut kept, 500), pruned(&mut loaded, 500));
        assert_eq!(kept, loaded);
    });
}

/// What may happen to a session.
#[derive(Clone, Debug)]
enum Step {
    Turn(usize),
    User,
    Prune(usize),
    Compact,
    Rename,
    Resume,
    Fork(usize),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (0..60_usize).prop_map(Step::Turn),
        2 => Just(Step::User),
        2 => (0..9_000_usize).prop_map(Step::Prune),
        1 => Just(Step::Compact),
        1 => Just(Step::Rename),
        1 => Just(Step::Resume),
        1 => (0..100_usize).prop_map(Step::Fork),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// The log, its snapshot and what the writer saw agree after every event, and every earlier
    /// state can still be read, through forks as well.
    #[test]
    fn every_prefix_replays_to_what_was_seen(steps in prop::collection::vec(step(), 1..25)) {
        let place = Place::sqlite();
        let mut session = place.store.create(NewSession::new(Origin::Agent)).expect("created");
        let mut seen = vec![Vec::new()];
        let mut transcript: Vec<Message> = Vec::new();
        for step in steps {
            match step {
                Step::Turn(number) => {
                    transcript.extend(turn(number));
                    place.store.append(&mut session, turn(number)).expect("appended");
                }
                Step::User => {
                    transcript.push(user("go on"));
                    place.store.admit(&mut session, user("go on")).expect("admitted");
                }
                Step::Prune(protect) => {
                    let Some(projection) = prune(&session, protect) else { continue };
                    place.store.commit_context_projection(&mut session, projection).expect("pruned");
                }
                Step::Compact => {
                    let Some(projection) = compact(&session) else { continue };
                    // Over a window in which pairs cross the cut it is refused, rightly.
                    if place.store.commit_context_projection(&mut session, projection).is_err() {
                        continue;
                    }
                }
                Step::Rename => {
                    let name = Some(format!("{} at {}", session.id(), session.revision()));
                    place.store.rename(&mut session, name).expect("renamed");
                }
                Step::Resume => {
                    let (id, window) = (session.id().to_string(), session.window().to_vec());
                    drop(session);
                    session = place.again().resume(&id).expect("resumed");
                    prop_assert_eq!(session.window(), &window[..]);
                    continue;
                }
                Step::Fork(part) => {
                    let at = 1 + (session.revision() - 1) * part as u64 / 100;
                    let fork = place.store.fork(session.id(), Some(at), None).expect("forked");
                    seen.truncate(at as usize);
                    transcript = place.store.transcript(fork.id).expect("read");
                    session = place.store.resume(&fork.id.to_string()).expect("resumed");
                }
            }
            seen.push(session.window().to_vec());
            prop_assert_eq!(seen.len() as u64, session.revision());
        }
        let id = session.id();
        place.store.verify(id).expect("log and snapshot agree");
        for (seq, window) in (1..).zip(&seen) {
            prop_assert_eq!(&place.store.window_at(id, seq).expect("read"), window, "event {}", seq);
        }
        prop_assert_eq!(place.store.transcript(id).expect("read"), transcript);
    }
}
