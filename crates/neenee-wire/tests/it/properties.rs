//! What holds for any bytes: no panic, splices that read back. Not what a particular format means.

use neenee_wire::{Document, Edit, Format};
use proptest::prelude::*;

use crate::check;

/// Valid documents, small, with what is awkward about each format.
const SEEDS: &[&str] = &[
    r#"{"model":"m","messages":[{"role":"user","content":"a\ud83d\u00e9"},{"role":"assistant","tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]},{"role":"tool","tool_call_id":"c","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AA"}}]},{"role":"tool","content":"é"}]}"#,
    r#"{"system":[],"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":[{"type":"image","source":{"data":"AAAA"},"cache_control":{}},{"type":"text","text":"x"}]},{"type":"tool_result"}]}],"thinking":{"type":"enabled"}}"#,
    "{\"parentUuid\":null,\"sessionId\":\"s\",\"uuid\":\"u\",\"type\":\"assistant\",\"message\":{\"id\":\"m\",\"content\":[{\"type\":\"tool_use\",\"id\":\"t\",\"name\":\"n\",\"input\":{}}]}}\r\n\n{\"parentUuid\":\"u\",\"sessionId\":\"s\",\"uuid\":\"v\",\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"tool_result\",\"tool_use_id\":\"t\",\"content\":\"x\"}]}}\n{\"to",
];

/// Reads as every format, and splices what is read; nothing of it may panic.
fn exercise(bytes: &[u8]) {
    let _ = neenee_wire::detect(bytes);
    for format in std::iter::once(None).chain(Format::all().map(Some)) {
        match neenee_wire::read(bytes, format) {
            Ok(document) => splice_all(&document, bytes),
            Err(error) => assert!(!error.to_string().is_empty()),
        }
    }
}

fn splice_all(document: &Document<'_>, bytes: &[u8]) {
    assert!(document.splice(&[]).unwrap() == bytes);
    let edits: Vec<Edit<'_>> = (0..document.results().len())
        .map(|ordinal| Edit {
            ordinal,
            content: "new \"é\"",
        })
        .collect();
    // Results that share bytes are refused, which only a damaged document has.
    let Ok(spliced) = document.splice(&edits) else {
        return;
    };
    let again = neenee_wire::read(&spliced, Some(document.format())).expect("reads back");
    assert_eq!(check::shape(document), check::shape(&again));
}

/// One change of a document's bytes.
#[derive(Clone, Debug)]
enum Change {
    Set(prop::sample::Index, u8),
    Remove(prop::sample::Index, usize),
    Insert(prop::sample::Index, Vec<u8>),
    Repeat(prop::sample::Index, usize),
}

fn change() -> impl Strategy<Value = Change> {
    let at = any::<prop::sample::Index>;
    let piece = prop::sample::select(vec![
        "{",
        "}",
        "[",
        "]",
        ",",
        ":",
        "\"",
        "\\",
        "\n",
        "null",
        "1e9",
        "\\ud83d",
        "\"type\":",
        "\"content\":[],",
        "é",
        "\u{feff}",
    ]);
    prop_oneof![
        (at(), any::<u8>()).prop_map(|(at, byte)| Change::Set(at, byte)),
        (at(), 1usize..20).prop_map(|(at, length)| Change::Remove(at, length)),
        (at(), piece).prop_map(|(at, piece)| Change::Insert(at, piece.as_bytes().to_vec())),
        (at(), 1usize..60).prop_map(|(at, length)| Change::Repeat(at, length)),
    ]
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    if bytes.is_empty() {
        return;
    }
    match change {
        Change::Set(at, byte) => {
            let at = at.index(bytes.len());
            bytes[at] = *byte;
        }
        Change::Remove(at, length) => {
            let at = at.index(bytes.len());
            bytes.drain(at..(at + length).min(bytes.len()));
        }
        Change::Insert(at, piece) => {
            let at = at.index(bytes.len());
            bytes.splice(at..at, piece.iter().copied());
        }
        Change::Repeat(at, length) => {
            let at = at.index(bytes.len());
            let piece = bytes[at..(at + length).min(bytes.len())].to_vec();
            bytes.splice(at..at, piece);
        }
    }
}

/// A JSON value as text, with the spellings that a tree would lose.
fn json() -> impl Strategy<Value = String> {
    let text = prop_oneof![
        "[a-z é😀]{0,12}",
        Just(r"\ud83d".to_owned()),
        Just(r#"\"\\\/\u0041\n"#.to_owned()),
    ]
    .prop_map(|inside| format!("\"{inside}\""));
    let scalar = prop_oneof![
        text.clone(),
        prop::sample::select(vec![
            "2.50",
            "-0",
            "1E+2",
            "123456789012345678901234567890",
            "true",
            "null"
        ])
        .prop_map(str::to_owned),
    ];
    scalar.prop_recursive(4, 32, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|items| format!("[ {}]", items.join(" ,"))),
            prop::collection::vec((text.clone(), inner), 0..4).prop_map(|fields| {
                let fields: Vec<String> = fields
                    .iter()
                    .map(|(key, value)| format!("{key} : {value}"))
                    .collect();
                format!("{{{} }}", fields.join(","))
            }),
        ]
    })
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        exercise(&bytes);
    }

    #[test]
    fn damaged_documents_are_read_or_refused(
        seed in prop::sample::select(SEEDS),
        changes in prop::collection::vec(change(), 1..6),
    ) {
        let mut bytes = seed.as_bytes().to_vec();
        for change in &changes {
            apply(&mut bytes, change);
        }
        exercise(&bytes);
    }

    #[test]
    fn unknown_values_are_carried(extra in json(), text in "[ -~é\u{7f}\u{1}\n\t😀]{0,40}") {
        // The unknown value stands everywhere where one may; the text is what a result becomes.
        let body = format!(
            r#"{{"x": {extra}, "messages": [{{"role": "tool", "y": {extra}, "content": "old", "z": {extra}}}], "w": {extra}}}"#
        );
        let document = neenee_wire::read(body.as_bytes(), Some(Format::OpenAiChat)).unwrap();
        let content = format!("n{text}");
        let spliced = document.splice(&[Edit { ordinal: 0, content: &content }]).unwrap();
        let spliced = String::from_utf8(spliced).unwrap();
        let (before, after) = body.split_once("\"old\"").unwrap();
        prop_assert!(spliced.starts_with(before));
        prop_assert!(spliced.ends_with(after));
        let again = neenee_wire::read(spliced.as_bytes(), Some(Format::OpenAiChat)).unwrap();
        let picture = check::picture(&again);
        prop_assert!(picture.contains(&format!("{content:?}")), "{picture}");
    }
}
