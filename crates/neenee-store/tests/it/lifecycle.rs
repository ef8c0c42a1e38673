//! Beginning, writing, leaving, coming back.
//! Deliberately through a second store each time something is read: what counts is on disk.

use neenee_store::{NewSession, Origin, SessionEvent, StoreError};

use crate::conversation::{turn, user};
use crate::setup::each;

fn agent(name: &str) -> NewSession {
    NewSession {
        name: Some(name.to_owned()),
        cwd: Some("/repo".to_owned()),
        model: Some("gpt-5".to_owned()),
        ..NewSession::new(Origin::Agent)
    }
}

#[test]
fn what_was_written_is_there_again() {
    each(|place| {
        let mut session = place.store.create(agent("work")).expect("created");
        place
            .store
            .admit(&mut session, user("do it"))
            .expect("admitted");
        for number in 0..12 {
            place
                .store
                .append(&mut session, turn(number))
                .expect("appended");
        }
        let window = session.window().to_vec();
        let (id, revision) = (session.id(), session.revision());
        drop(session);

        let again = place.again();
        let session = again.resume("work").expect("resumed");
        assert_eq!(session.window(), window);
        assert_eq!(session.revision(), revision);
        assert_eq!(
            (session.cwd(), session.model()),
            (Some("/repo"), Some("gpt-5"))
        );
        assert_eq!(again.transcript(id).expect("transcript"), window);
        let events = again.events(id).expect("events");
        assert_eq!(events.len(), 14);
        assert_eq!(
            events[0].event,
            SessionEvent::Created {
                name: Some("work".to_owned())
            }
        );
        assert_eq!(events[1].event, SessionEvent::UserAdmitted);
        assert_eq!(events[2].event, SessionEvent::MessagesAppended { count: 2 });
    });
}

#[test]
fn a_session_goes_by_id_prefix_and_name() {
    each(|place| {
        let id = place.store.create(agent("one")).expect("created").id();
        let text = id.to_string();
        for reference in [&text, &text.to_uppercase(), &text[..13], "one"] {
            assert_eq!(
                place.store.find(reference).expect("found").id,
                id,
                "{reference}"
            );
        }
        for reference in ["", "tw", "abc", &format!("{text}0")] {
            let error = place.store.find(reference).expect_err("not one");
            assert!(matches!(error, StoreError::NoSuchSession(_)), "{error}");
        }
        // Ids of the same millisecond share their beginning.
        place.store.create(agent("two")).expect("created");
        let error = place.store.find(&text[..8]).expect_err("fits both");
        assert!(
            matches!(error, StoreError::Ambiguous { count: 2, .. }),
            "{error}"
        );
    });
}

#[test]
fn names_are_unique_and_can_change() {
    each(|place| {
        let mut one = place.store.create(agent("one")).expect("created");
        let error = place.store.create(agent("one")).expect_err("taken");
        assert!(matches!(error, StoreError::NameTaken(_)), "{error}");
        place
            .store
            .rename(&mut one, Some("uno".to_owned()))
            .expect("renamed");
        let two = place.store.create(agent("one")).expect("free again");
        let error = place
            .store
            .rename(&mut one, Some("one".to_owned()))
            .expect_err("taken");
        assert!(matches!(error, StoreError::NameTaken(_)), "{error}");
        // The refused name left nothing behind.
        assert_eq!(one.name(), Some("uno"));
        place.store.rename(&mut one, None).expect("unnamed");
        assert_eq!(place.again().find("one").expect("found").id, two.id());
        assert!(place.again().find("uno").is_err());
    });
}

#[test]
fn one_writer_at_a_time_and_any_number_of_readers() {
    each(|place| {
        let mut session = place.store.create(agent("work")).expect("created");
        place
            .store
            .admit(&mut session, user("do it"))
            .expect("admitted");
        let other = place.again();
        for _ in 0..2 {
            let error = other.resume("work").expect_err("in use");
            assert!(
                matches!(error, StoreError::InUse { .. }) && error.is_transient(),
                "{error}"
            );
        }
        assert_eq!(other.window(session.id()).expect("readable").0.len(), 1);
        assert!(other.find("work").expect("found").holder.is_some());
        drop(session);
        let session = other.resume("work").expect("free");
        assert!(place.store.resume("work").is_err());
        drop(session);
        assert_eq!(place.store.find("work").expect("found").holder, None);
    });
}

#[test]
fn a_clock_that_jumps_back_changes_no_order() {
    each(|place| {
        let mut session = place.store.create(agent("work")).expect("created");
        for number in 0..6 {
            place.clock.set(1_800_000_000_000 - 86_400_000 * number);
            place
                .store
                .append(&mut session, turn(number as usize))
                .expect("appended");
        }
        place.clock.set(0);
        let late = place.store.create(agent("late")).expect("created").id();
        let window = session.window().to_vec();
        drop(session);
        let session = place.again().resume("work").expect("resumed");
        assert_eq!(session.window(), window);
        let events = place.store.events(session.id()).expect("events");
        assert!(events.windows(2).all(|pair| pair[0].seq + 1 == pair[1].seq));
        assert!(events[6].at < events[1].at, "times are those of the clock");
        assert_eq!(place.store.sessions().expect("listed")[1].id, late);
    });
}

#[test]
fn notes_are_kept_and_stay_out_of_the_window() {
    each(|place| {
        let mut session = place.store.create(agent("work")).expect("created");
        let data = serde_json::json!({"input": 1200, "source": "reported"});
        let seq = place
            .store
            .note(&mut session, "usage", data.clone())
            .expect("noted");
        assert_eq!(session.window(), []);
        let events = place.again().events(session.id()).expect("events");
        assert_eq!(events.last().map(|event| event.seq), Some(seq));
        assert_eq!(
            events.last().map(|event| event.event.clone()),
            Some(SessionEvent::Noted {
                topic: "usage".to_owned(),
                data
            })
        );
    });
}

#[test]
fn envoys_too_deep_to_be_read_back_are_refused() {
    use neenee_core::message::Part;
    each(|place| {
        let mut session = place.store.create(agent("work")).expect("created");
        let mut fits = None;
        let mut message = user("the innermost");
        for depth in 0..30 {
            let mut outer = crate::conversation::result("e", "x");
            if let Some(Part::Result(result)) = outer.parts.first_mut() {
                result.children = vec![message];
            }
            message = outer;
            match place.store.append(&mut session, vec![message.clone()]) {
                Ok(_) => fits = Some(depth),
                Err(error) => assert!(matches!(error, StoreError::TooDeep(_)), "{error}"),
            }
        }
        assert_eq!(fits, Some(15));
        let window = session.window().to_vec();
        drop(session);
        assert_eq!(
            place.again().resume("work").expect("resumed").window(),
            window
        );
    });
}
