//! The recordings of real clients under `examples/recorded`, and that windows are what clients sent.
//! Deliberately not the private sessions of others, which `shared` runs over.

use std::path::{Path, PathBuf};

use neenee_core::pressure::view::View;
use neenee_wire::{Document, Format};

use crate::check;

fn recorded(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../examples/recorded")
        .join(name)
}

#[test]
fn every_recording_reads_and_splices() {
    for (name, format) in [
        ("claude-code/session.jsonl", Format::ClaudeCode),
        ("claude-code/subagent.jsonl", Format::ClaudeCode),
        ("claude-code/anthropic-request.json", Format::Anthropic),
        ("opencode/chat-request.json", Format::OpenAiChat),
        ("gemini-cli/session.jsonl", Format::GeminiCli),
        ("gemini-cli/gemini-request.json", Format::Gemini),
        ("opencode/session.json", Format::OpenCode),
        ("opencode/compacted-session.json", Format::OpenCode),
        ("codex/session.jsonl", Format::Codex),
        ("codex/compacted-session.jsonl", Format::Codex),
        ("codex/responses-request.json", Format::OpenAiResponses),
    ] {
        let bytes = std::fs::read(recorded(name)).unwrap();
        println!("{name}");
        check::splices(&bytes, format);
        let document = check::read(&bytes, format);
        assert!(!document.results().is_empty(), "no result in {name}");
        assert!(document.warnings().is_empty(), "warnings in {name}");
    }
}

/// Calls and results in their order, with what they say.
fn tool_work<'d>(document: &'d Document<'_>) -> Vec<(&'d str, &'d str)> {
    document
        .views()
        .filter_map(|view| match view {
            View::Call(call) => Some((call.id?, call.name)),
            View::Result(result) => Some((result.call_id?, result.text)),
            _ => None,
        })
        .collect()
}

#[test]
fn the_window_of_a_claude_code_session_is_what_its_resume_sent() {
    let session = std::fs::read(recorded("claude-code/session.jsonl")).unwrap();
    let request = std::fs::read(recorded("claude-code/anthropic-request.json")).unwrap();
    let session = check::read(&session, Format::ClaudeCode);
    let request = check::read(&request, Format::Anthropic);
    assert_eq!(session.model(), request.model());
    let (session, request) = (tool_work(&session), tool_work(&request));
    for (nth, pair) in session.iter().zip(&request).enumerate() {
        assert_eq!(pair.0.0, pair.1.0, "call or result {nth}");
        // The client hangs its reminders, attachments in the file, behind the last result.
        let sent = pair.1.1.split("\n\n<system-reminder>").next();
        assert_eq!(
            Some(pair.0.1.trim_end()),
            sent.map(str::trim_end),
            "call or result {nth}"
        );
    }
    assert_eq!(session.len(), request.len());
}

#[test]
fn the_window_of_a_codex_session_is_what_its_resume_sent() {
    let session = std::fs::read(recorded("codex/session.jsonl")).unwrap();
    let request = std::fs::read(recorded("codex/responses-request.json")).unwrap();
    let session = check::read(&session, Format::Codex);
    let request = check::read(&request, Format::OpenAiResponses);
    assert_eq!(session.model(), request.model());
    let (session, request) = (tool_work(&session), tool_work(&request));
    assert!(session.len() > 80, "{} calls and results", session.len());
    assert_eq!(session, request);
}

#[test]
fn the_window_of_a_gemini_cli_chat_is_what_its_resume_sent() {
    let chat = std::fs::read(recorded("gemini-cli/session.jsonl")).unwrap();
    let request = std::fs::read(recorded("gemini-cli/gemini-request.json")).unwrap();
    let chat = check::read(&chat, Format::GeminiCli);
    let request = check::read(&request, Format::Gemini);
    let texts = |document: &Document<'_>| -> Vec<String> {
        let results = document.views().filter_map(|view| match view {
            View::Result(result) => Some(result.text.to_owned()),
            _ => None,
        });
        results.collect()
    };
    let (chat, mut request) = (texts(&chat), texts(&request));
    assert!(chat.len() > 40, "{} results", chat.len());
    // The request may have been sent before the last results came.
    request.truncate(chat.len());
    assert_eq!(chat[..request.len()], request[..]);
    assert!(request.len() > 40, "{} sent", request.len());
}

#[test]
fn the_window_of_an_opencode_session_is_what_its_resume_sent() {
    let session = std::fs::read(recorded("opencode/session.json")).unwrap();
    let request = std::fs::read(recorded("opencode/chat-request.json")).unwrap();
    let session = check::read(&session, Format::OpenCode);
    let request = check::read(&request, Format::OpenAiChat);
    assert_eq!(session.model(), request.model());
    let (session, request) = (tool_work(&session), tool_work(&request));
    assert!(session.len() > 80, "{} calls and results", session.len());
    assert_eq!(session, request);
}
