//! Forks and equal originals: stored once, whoever has them.
//! Deliberately measured in bytes of the database's own accounts.

use neenee_store::{NewSession, Origin, StoreError};

use crate::conversation::{prune, turn, user};
use crate::setup::each;

#[test]
fn a_fork_adds_no_copy_and_goes_its_own_way() {
    each(|place| {
        let mut parent = place
            .store
            .create(NewSession::new(Origin::Agent))
            .expect("created");
        for number in 0..18 {
            place
                .store
                .append(&mut parent, turn(number))
                .expect("appended");
        }
        let before = place.store.usage().expect("usage");
        let fork = place
            .store
            .fork(parent.id(), None, Some("branch".to_owned()))
            .expect("a session in use can be forked");
        let after = place.store.usage().expect("usage");
        assert_eq!(after.fresh_bytes, before.fresh_bytes);
        assert_eq!(after.archived_bytes, before.archived_bytes);
        assert!(after.record_bytes - before.record_bytes < 64);
        assert_eq!(fork.parent, Some((parent.id(), parent.revision())));

        let mut fork = place.store.resume("branch").expect("resumed");
        assert_eq!(fork.window(), parent.window());
        for session in [&mut parent, &mut fork] {
            let projection = prune(session, 1_000).expect("much to prune");
            place
                .store
                .commit_context_projection(session, projection)
                .expect("committed");
        }
        let both = place.store.usage().expect("usage");
        place
            .store
            .append(&mut fork, vec![user("another way")])
            .expect("appended");
        assert_ne!(fork.window(), parent.window());
        let one = parent.window().len();
        assert_eq!(
            place.again().window(parent.id()).expect("read").0.len(),
            one
        );
        // Archived once, though both pruned the same results.
        let raw: usize = place
            .store
            .transcript(parent.id())
            .expect("read")
            .iter()
            .flat_map(|message| &message.parts)
            .map(|part| match part {
                neenee_core::message::Part::Result(result) => result.text.len(),
                _ => 0,
            })
            .sum();
        assert!(
            both.archived_raw_bytes <= raw as u64 + 200_000,
            "{both:?} of {raw}"
        );
    });
}

#[test]
fn a_fork_of_an_event_is_the_state_of_that_event() {
    each(|place| {
        let mut session = place
            .store
            .create(NewSession::new(Origin::Agent))
            .expect("created");
        for number in 0..10 {
            place
                .store
                .append(&mut session, turn(number))
                .expect("appended");
        }
        let projection = prune(&session, 0).expect("much to prune");
        place
            .store
            .commit_context_projection(&mut session, projection)
            .expect("committed");
        for at in 1..=session.revision() {
            let fork = place
                .store
                .fork(session.id(), Some(at), None)
                .expect("forked");
            assert_eq!(
                place.again().window(fork.id).expect("read").0,
                place.store.window_at(session.id(), at).expect("read"),
                "event {at}"
            );
        }
        for at in [0, session.revision() + 1] {
            let error = place
                .store
                .fork(session.id(), Some(at), None)
                .expect_err("not there");
            assert!(matches!(error, StoreError::NoSuchEvent { .. }), "{error}");
        }
    });
}

#[test]
fn many_sessions_are_written_at_once() {
    each(|place| {
        std::thread::scope(|scope| {
            for thread in 0..6_usize {
                let store = if thread % 2 == 0 {
                    place.store.clone()
                } else {
                    place.again()
                };
                scope.spawn(move || {
                    let mut session = store
                        .create(NewSession::new(Origin::Agent))
                        .expect("created");
                    for number in 0..15 {
                        store
                            .append(&mut session, turn(thread * 40 + number))
                            .expect("appended");
                        if let Some(projection) = prune(&session, 6_000) {
                            store
                                .commit_context_projection(&mut session, projection)
                                .expect("committed");
                        }
                    }
                    store.verify(session.id()).expect("sound");
                });
            }
        });
        assert_eq!(place.store.sessions().expect("listed").len(), 6);
    });
}
