//! Export and import.
//! Deliberately into another store as well as back into the same one.

use neenee_store::{NewSession, Origin, StoreError};

use crate::conversation::{compact, prune, turn, user};
use crate::setup::{Place, each};

fn exported(place: &Place) -> (uuid::Uuid, Vec<u8>) {
    let new = NewSession {
        name: Some("work".to_owned()),
        ..NewSession::new(Origin::Agent)
    };
    let mut session = place.store.create(new).expect("created");
    for number in 0..20 {
        if number % 5 == 0 {
            place
                .store
                .admit(&mut session, user("go on"))
                .expect("admitted");
        }
        place
            .store
            .append(&mut session, turn(number))
            .expect("appended");
    }
    let projection = prune(&session, 3_000).expect("much to prune");
    place
        .store
        .commit_context_projection(&mut session, projection)
        .expect("committed");
    let projection = compact(&session).expect("a round to cut at");
    place
        .store
        .commit_context_projection(&mut session, projection)
        .expect("committed");
    let fork = place
        .store
        .fork(session.id(), None, Some("branch".to_owned()))
        .expect("forked");
    let mut fork = place.store.resume(&fork.id.to_string()).expect("resumed");
    place.store.append(&mut fork, turn(21)).expect("appended");
    let mut out = Vec::new();
    place.store.export(fork.id(), &mut out).expect("exported");
    (fork.id(), out)
}

#[test]
fn an_export_goes_in_elsewhere_and_is_the_same_session() {
    each(|place| {
        let (id, export) = exported(place);
        let other = Place::sqlite();
        let info = other.store.import(&mut &export[..]).expect("imported");
        assert_eq!((info.id, info.name.as_deref()), (id, Some("branch")));
        assert_eq!(info.parent, None, "a fork stands for itself elsewhere");
        other.store.verify(id).expect("sound");
        assert_eq!(
            other.store.window(id).expect("read"),
            place.store.window(id).expect("read")
        );
        assert_eq!(
            other.store.transcript(id).expect("read"),
            place.store.transcript(id).expect("read")
        );
        for seq in 1..=info.last_seq {
            assert_eq!(
                other.store.window_at(id, seq).expect("read"),
                place.store.window_at(id, seq).expect("read"),
                "event {seq}"
            );
        }
        let mut back = Vec::new();
        other.store.export(id, &mut back).expect("exported");
        let (one, two) = (lines(&export), lines(&back));
        assert_eq!(
            one[1..],
            two[1..],
            "the header alone tells the time of import"
        );
    });
}

fn lines(export: &[u8]) -> Vec<&str> {
    std::str::from_utf8(export)
        .expect("JSON is text")
        .lines()
        .collect()
}

#[test]
fn an_import_beside_the_original_gets_an_id_of_its_own() {
    each(|place| {
        let (id, export) = exported(place);
        let info = place.store.import(&mut &export[..]).expect("imported");
        assert_ne!(info.id, id);
        assert_eq!(info.name, None, "the name is taken");
        assert_eq!(
            place.store.window(info.id).expect("read"),
            place.store.window(id).expect("read")
        );
    });
}

#[test]
fn a_spoilt_export_names_its_line_and_adds_nothing() {
    each(|place| {
        let (_, export) = exported(place);
        let other = Place::sqlite();
        let text = String::from_utf8(export).expect("JSON is text");
        let lines: Vec<&str> = text.lines().collect();
        let body = lines
            .iter()
            .position(|line| line.starts_with(r#"{"digest"#))
            .expect("bodies");
        let without = |skip: usize| -> String {
            lines
                .iter()
                .enumerate()
                .filter(|(at, _)| *at != skip)
                .map(|(_, line)| format!("{line}\n"))
                .collect()
        };
        let changed = |at: usize, from: &str, to: &str| -> String {
            let mut lines: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
            assert!(lines[at].contains(from));
            lines[at] = lines[at].replacen(from, to, 1);
            lines.concat()
        };
        for (spoilt, line) in [
            (String::new(), 1),
            ("{}\n".to_owned(), 1),
            ("no JSON".to_owned(), 1),
            (without(0), 1),
            (without(3), lines.len() - 1),
            (without(body), lines.len() - 1),
            (without(lines.len() - 1), lines.len() - 1),
            (text.clone() + "{}\n", lines.len() + 1),
            (
                changed(0, r#""neenee_session":1"#, r#""neenee_session":7"#),
                1,
            ),
            (changed(2, r#""seq":2"#, r#""seq":3"#), 3),
            (changed(body, r#"text":""#, r#"text":"x"#), body + 1),
        ] {
            match other.store.import(&mut spoilt.as_bytes()) {
                Err(StoreError::BadExport { line: found, .. }) => assert_eq!(found, line),
                other => panic!("{other:?} at line {line}"),
            }
            assert_eq!(other.store.sessions().expect("listed"), []);
            assert_eq!(other.store.usage().expect("usage").records, 0);
        }
        other
            .store
            .import(&mut text.as_bytes())
            .expect("the whole one still goes in");
    });
}
