//! `neenee inspect` and the catalogues: what fills a window, formats, models, help.
//! Deliberately not how it looks: that is for eyes.

use crate::{Bed, recorded};

#[test]
fn a_window_is_shown_as_text_json_and_page() {
    let bed = Bed::new();
    let file = recorded("claude-code/long-session.jsonl");
    let (out, _) = bed.run(&["inspect", &file], 0);
    assert!(
        out.contains("claude-code") && out.contains("tool results") && out.contains("Read"),
        "{out}"
    );
    let (out, _) = bed.run(&["inspect", "--json", &file], 0);
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(json.to_string().contains("\"claude-code\""), "{out:.300}");
    bed.run(&["inspect", "--html", "page.html", &file], 0);
    let page = std::fs::read_to_string(bed.path("page.html")).unwrap();
    assert!(page.contains("<svg") && page.contains("prefers-color-scheme"));
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!page.contains(outside), "the page asks for {outside}");
    }
}

#[test]
fn hostile_names_stay_text_on_the_page() {
    let bed = Bed::new();
    let evil = "</script><img src=x onerror=alert(1)>";
    let body = serde_json::json!({"model": evil, "messages": [
        {"role": "assistant", "content": evil, "tool_calls": [{"id": "c1", "type": "function", "function": {
            "name": evil, "arguments": serde_json::json!({"path": evil}).to_string()}}]},
        {"role": "tool", "tool_call_id": "c1", "content": evil.repeat(100)},
    ]});
    bed.write("s.json", body.to_string());
    bed.run(&["inspect", "--html", "page.html", "s.json"], 0);
    let page = std::fs::read_to_string(bed.path("page.html")).unwrap();
    assert!(!page.contains("<img src=x"), "a name became markup");
    bed.run(&["inspect", "s.json"], 0);
}

#[test]
fn catalogues_completions_and_man_page_are_produced() {
    let bed = Bed::new();
    let (out, _) = bed.run(&["formats"], 0);
    for format in [
        "openai-chat",
        "openai-responses",
        "anthropic",
        "gemini",
        "claude-code",
        "codex",
        "gemini-cli",
        "opencode",
        "pi",
        "cline-roo",
        "openhands",
        "swe-agent",
        "mini-swe-agent",
    ] {
        assert!(out.contains(format), "{format} is not listed");
    }
    let (out, _) = bed.run(&["models"], 0);
    assert!(out.contains("claude") && out.contains("gpt"), "{out:.200}");
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        let (out, _) = bed.run(&["completions", shell], 0);
        assert!(out.contains("prune") && out.len() > 500, "{shell}");
    }
    let (out, _) = bed.run(&["man"], 0);
    assert!(out.contains(".TH") && out.contains("prune"), "{out:.200}");
    let (out, _) = bed.run(&["prune", "--help"], 0);
    assert!(
        out.contains("Examples") && out.contains("--protect-tokens"),
        "{out}"
    );
}
