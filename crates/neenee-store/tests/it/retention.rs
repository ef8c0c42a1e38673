//! What goes, what stays, and that a sweep takes only what nothing needs.
//! Deliberately the plan first, then its effect.

use jiff::{SignedDuration, Timestamp};
use neenee_store::retention::{RemovalReason, Retention, plan};
use neenee_store::{NewSession, Origin, Session, StoreError};

use crate::conversation::{prune, turn};
use crate::setup::{Place, each};

const DAY_MS: i64 = 86_400_000;

/// A session called `name` that was last written to at `day`, pruned; its turns start at `first`.
fn session(place: &Place, name: &str, day: i64, first: usize) -> Session {
    place.clock.set(day * DAY_MS);
    let new = NewSession {
        name: Some(name.to_owned()),
        ..NewSession::new(Origin::Agent)
    };
    let mut session = place.store.create(new).expect("created");
    for number in first..first + 12 {
        place
            .store
            .append(&mut session, turn(number))
            .expect("appended");
    }
    let projection = prune(&session, 1_000).expect("much to prune");
    place
        .store
        .commit_context_projection(&mut session, projection)
        .expect("committed");
    session
}

fn names(plan: &neenee_store::retention::RetentionPlan) -> Vec<(String, RemovalReason)> {
    plan.remove
        .iter()
        .map(|r| (r.session.label(), r.reason))
        .collect()
}

#[test]
fn the_plan_takes_the_longest_unused_and_spares_those_in_use() {
    each(|place| {
        drop(session(place, "old", 1, 0));
        let busy = session(place, "busy", 2, 100);
        drop(session(place, "new", 40, 200));
        let now = Timestamp::from_millisecond(41 * DAY_MS).expect("valid");
        let sessions = place.store.sessions().expect("listed");
        let keep = |days: i64| Retention {
            keep: Some(SignedDuration::from_hours(24 * days)),
            max_bytes: None,
        };
        let month = plan(&sessions, &keep(30), now);
        assert_eq!(names(&month), [("old".to_owned(), RemovalReason::Old)]);
        assert_eq!(month.in_use.len(), 1);
        assert_eq!(month.in_use[0].id, busy.id());
        assert_eq!(month.stay, 2);
        assert_eq!(names(&plan(&sessions, &Retention::default(), now)), []);
        assert_eq!(names(&plan(&sessions, &keep(60), now)), []);

        let size = Retention {
            keep: None,
            max_bytes: Some(sessions[2].bytes + sessions[1].bytes),
        };
        assert_eq!(
            names(&plan(&sessions, &size, now)),
            [("old".to_owned(), RemovalReason::Size)]
        );
        // Before any of them was written, as a clock that jumped back says.
        let past = Timestamp::from_millisecond(0).expect("valid");
        assert_eq!(names(&plan(&sessions, &keep(30), past)), []);
    });
}

#[test]
fn removing_gives_back_what_no_other_session_needs() {
    each(|place| {
        let one = session(place, "one", 1, 0);
        // The same outputs: shared bodies.
        let two = session(place, "two", 2, 0);
        let other = session(place, "other", 3, 300);
        let (one_id, two_id) = (one.id(), two.id());
        let error = place.again().remove(&[two_id, one_id]).expect_err("in use");
        assert!(matches!(error, StoreError::InUse { .. }), "{error}");
        assert_eq!(
            place.store.sessions().expect("listed").len(),
            3,
            "none was removed"
        );
        drop((one, other));
        let full = place.store.usage().expect("usage");
        place.store.remove(&[one_id]).expect("removed");
        assert!(place.store.find("one").is_err());
        assert_eq!(place.store.sweep().expect("swept").sessions, 1);
        place
            .store
            .verify(two_id)
            .expect("two still has all it needs");

        let other_id = place.store.find("other").expect("there").id;
        place.store.remove(&[other_id]).expect("removed");
        let swept = place.store.sweep().expect("swept");
        assert!(swept.bodies > 5 && swept.bytes > 0, "{swept:?}");
        place
            .store
            .verify(two_id)
            .expect("two still has all it needs");
        drop(two);
        place.store.remove(&[two_id]).expect("removed");
        place.store.sweep().expect("swept");
        let empty = place.store.usage().expect("usage");
        assert!(full.archived_bytes > 0);
        assert_eq!(
            (empty.archived_bytes, empty.fresh_bytes, empty.records),
            (0, 0, 0)
        );
    });
}

#[test]
fn what_a_fork_needs_stays_until_the_fork_goes() {
    each(|place| {
        let parent = session(place, "parent", 1, 0);
        let id = parent.id();
        let fork = place.store.fork(id, Some(5), None).expect("forked");
        let seen = place.store.window(fork.id).expect("read");
        drop(parent);
        place.store.remove(&[id]).expect("removed");
        assert_eq!(place.store.sweep().expect("swept").sessions, 0);
        assert_eq!(place.store.sessions().expect("listed").len(), 1);
        assert_eq!(place.store.window(fork.id).expect("read"), seen);
        place.store.verify(fork.id).expect("sound");
        place.store.remove(&[fork.id]).expect("removed");
        assert_eq!(place.store.sweep().expect("swept").sessions, 2);
    });
}

#[test]
fn a_pack_that_is_mostly_dead_is_written_anew() {
    each(|place| {
        let long = session(place, "long", 1, 0);
        let long_id = long.id();
        drop(long);
        // Shares the outputs of the last turns alone, and archived none of its own.
        place.clock.set(2 * DAY_MS);
        let mut short = place
            .store
            .create(NewSession::new(Origin::Agent))
            .expect("created");
        for number in 9..12 {
            place
                .store
                .append(&mut short, turn(number))
                .expect("appended");
        }
        let before = place.store.usage().expect("usage");
        place.store.remove(&[long_id]).expect("removed");
        let swept = place.store.sweep().expect("swept");
        assert_eq!(swept.repacked, 1, "{swept:?}");
        let after = place.store.usage().expect("usage");
        assert!(after.archived_bytes > 0 && after.archived_bytes < before.archived_bytes / 2);
        place
            .store
            .verify(short.id())
            .expect("what it needs is still there");
        assert_eq!(
            place.store.sweep().expect("swept").repacked,
            0,
            "once is enough"
        );
    });
}
