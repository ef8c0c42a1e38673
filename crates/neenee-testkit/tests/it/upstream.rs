//! The scripted upstream, asked over a real socket in each of its formats.
//! Deliberately by hand-written HTTP: a client library would forgive what real agents do not.

use neenee_testkit::upstream::{Op, Script, Turn, Upstream};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

fn script() -> Script {
    Script::new("/home/dev/shop").round(
        "look",
        vec![
            Turn::say("Reading.")
                .thinking("The file first.")
                .and_call([Op::page("src/a.rs", 11, 10), Op::shell("ls -1")]),
            Turn::say("It is in `src/a.rs`, 価格 too."),
        ],
    )
}

/// Status and body of one request; the body lacks its end when the connection was cut.
async fn post(upstream: &Upstream, path: &str, body: &Value) -> (u16, String) {
    let address = upstream.url().replace("http://", "");
    let mut socket = TcpStream::connect(&address)
        .await
        .expect("the upstream listens");
    let body = body.to_string();
    let request = format!(
        "POST {path} HTTP/1.0\r\nhost: {address}\r\nx-api-key: secret\r\ncontent-type: application/json\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    socket
        .write_all(request.as_bytes())
        .await
        .expect("the request is taken");
    let mut bytes = Vec::new();
    // A cut connection is an error of the last read; what came before it counts.
    let _ = socket.read_to_end(&mut bytes).await;
    let text = String::from_utf8(bytes).expect("answers are UTF-8");
    let (head, body) = text.split_once("\r\n\r\n").expect("an answer has a head");
    let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
    (status.expect("an answer has a status"), body.to_owned())
}

/// The JSON of each event, the end mark left out.
fn events(body: &str) -> Vec<Value> {
    body.lines()
        .filter_map(|line| line.strip_prefix("data: "))
        .filter(|data| *data != "[DONE]")
        .map(|data| serde_json::from_str(data).expect("an event is JSON"))
        .collect()
}

/// All strings at `pointer` in the events, joined.
fn joined(events: &[Value], pointer: &str) -> String {
    let texts = events
        .iter()
        .filter_map(|event| event.pointer(pointer)?.as_str());
    texts.collect()
}

fn anthropic(messages: &Value) -> Value {
    json!({ "model": "m", "max_tokens": 9, "stream": true, "messages": messages,
            "tools": [{ "name": "Read" }, { "name": "Bash" }] })
}

fn responses(input: &Value) -> Value {
    json!({ "model": "m", "stream": true, "input": input, "tools": [
        { "type": "function", "name": "exec_command" }, { "type": "custom", "name": "apply_patch" }] })
}

fn chat(messages: &Value) -> Value {
    json!({ "model": "m", "stream": true, "messages": messages, "tools": [
        { "type": "function", "function": { "name": "read" } },
        { "type": "function", "function": { "name": "bash" } }] })
}

fn gemini(contents: &Value) -> Value {
    json!({ "contents": contents, "tools": [{ "functionDeclarations": [
        { "name": "read_file" }, { "name": "run_shell_command" }] }] })
}

const GEMINI: &str = "/v1beta/models/gemini-2.5-pro:streamGenerateContent?alt=sse";

#[tokio::test]
async fn messages_stream_thoughts_text_and_calls() {
    let upstream = Upstream::start(script()).await.expect("a port is free");
    let body = anthropic(&json!([{ "role": "user", "content": "look" }]));
    let (status, text) = post(&upstream, "/v1/messages?beta=true", &body).await;
    assert_eq!(status, 200, "{text}");
    let events = events(&text);
    assert_eq!(events[0]["type"], "message_start");
    assert_eq!(events.last().expect("events")["type"], "message_stop");
    assert_eq!(joined(&events, "/delta/thinking"), "The file first.");
    assert!(!joined(&events, "/delta/signature").is_empty());
    assert_eq!(joined(&events, "/delta/text"), "Reading.");
    let input = joined(&events, "/delta/partial_json");
    assert_eq!(
        input,
        r#"{"file_path":"/home/dev/shop/src/a.rs","limit":10,"offset":11}{"command":"ls -1","description":"Run a command"}"#
    );
    let starts = events
        .iter()
        .filter(|event| event["type"] == "content_block_start");
    let stops = events
        .iter()
        .filter(|event| event["type"] == "content_block_stop");
    assert_eq!((starts.count(), stops.count()), (4, 4));

    let received = &upstream.requests()[0];
    assert_eq!(received.body, body.to_string().into_bytes());
    assert_eq!(received.path, "/v1/messages?beta=true");
    assert!(received.headers.iter().all(|(name, _)| name != "x-api-key"));
}

#[tokio::test]
async fn the_turn_is_found_from_the_conversation_and_retries_get_the_same() {
    let upstream = Upstream::start(script()).await.expect("a port is free");
    let asked = json!({ "role": "user", "content": "look" });
    let mut body = anthropic(&json!([asked]));
    body["stream"] = json!(false);
    let (_, first) = post(&upstream, "/v1/messages", &body).await;
    let (_, again) = post(&upstream, "/v1/messages", &body).await;
    assert_eq!(first, again);
    let answer: Value = serde_json::from_str(&first).expect("an answer is JSON");
    let results: Vec<Value> = answer["content"]
        .as_array()
        .expect("content")
        .iter()
        .filter(|block| block["type"] == "tool_use")
        .map(|block| json!({ "type": "tool_result", "tool_use_id": block["id"], "content": "x" }))
        .collect();
    body["messages"] = json!([asked, { "role": "assistant", "content": answer["content"] },
                              { "role": "user", "content": results }]);
    let (status, second) = post(&upstream, "/v1/messages", &body).await;
    assert_eq!(status, 200, "{second}");
    assert!(second.contains("価格 too."), "{second}");
}

#[tokio::test]
async fn responses_stream_items_that_their_deltas_add_up_to() {
    let upstream = Upstream::start(script()).await.expect("a port is free");
    let body = responses(&json!([{ "type": "message", "role": "user",
                                   "content": [{ "type": "input_text", "text": "look" }] }]));
    let (status, text) = post(&upstream, "/v1/responses", &body).await;
    assert_eq!(status, 200, "{text}");
    let events = events(&text);
    let numbers: Vec<u64> = events
        .iter()
        .filter_map(|event| event["sequence_number"].as_u64())
        .collect();
    assert_eq!(numbers, (0..events.len() as u64).collect::<Vec<_>>());
    let last = events.last().expect("events");
    assert_eq!(last["type"], "response.completed");
    let output = &last["response"]["output"];
    let kinds: Vec<&str> = output
        .as_array()
        .expect("output")
        .iter()
        .filter_map(|item| item["type"].as_str())
        .collect();
    assert_eq!(
        kinds,
        ["reasoning", "message", "function_call", "function_call"]
    );
    assert_eq!(
        output[2]["arguments"],
        r#"{"cmd":"sed -n '11,20p' src/a.rs"}"#
    );
    for (index, item) in output.as_array().expect("output").iter().enumerate() {
        let of = |kind: &str| {
            events
                .iter()
                .find(|event| event["type"] == kind && event["output_index"] == index)
                .cloned()
        };
        assert_eq!(
            of("response.output_item.done").expect("done")["item"],
            *item
        );
        assert!(of("response.output_item.added").is_some());
    }
    let arguments = events
        .iter()
        .filter(|event| {
            event["type"] == "response.function_call_arguments.delta" && event["output_index"] == 2
        })
        .cloned()
        .collect::<Vec<_>>();
    assert_eq!(
        joined(&arguments, "/delta"),
        output[2]["arguments"].as_str().expect("text")
    );
}

#[tokio::test]
async fn a_custom_tool_gets_free_text() {
    let edit = Op::edit("src/a.rs", "let a = 1;\n", "let a = 2;\n");
    let script = Script::new("/p").round("", vec![Turn::call([edit])]);
    let upstream = Upstream::start(script).await.expect("a port is free");
    let (_, text) = post(&upstream, "/v1/responses", &responses(&json!("change it"))).await;
    let events = events(&text);
    let last = events.last().expect("events");
    let item = &last["response"]["output"][0];
    assert_eq!(item["type"], "custom_tool_call");
    assert_eq!(
        item["input"],
        "*** Begin Patch\n*** Update File: src/a.rs\n@@\n-let a = 1;\n+let a = 2;\n*** End Patch"
    );
}

#[tokio::test]
async fn completions_stream_chunks_usage_and_an_end_mark() {
    let upstream = Upstream::start(script()).await.expect("a port is free");
    let body =
        chat(&json!([{ "role": "system", "content": "s" }, { "role": "user", "content": "look" }]));
    let (status, text) = post(&upstream, "/v1/chat/completions", &body).await;
    assert_eq!(status, 200, "{text}");
    assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    let events = events(&text);
    assert_eq!(joined(&events, "/choices/0/delta/content"), "Reading.");
    assert_eq!(
        joined(&events, "/choices/0/delta/tool_calls/0/function/name"),
        "readbash"
    );
    assert_eq!(joined(&events, "/choices/0/finish_reason"), "tool_calls");
    assert!(events.last().expect("events")["usage"]["total_tokens"].is_u64());
}

#[tokio::test]
async fn gemini_streams_parts_and_whole_calls() {
    let upstream = Upstream::start(script()).await.expect("a port is free");
    let body = gemini(&json!([{ "role": "user", "parts": [{ "text": "look" }] }]));
    let (status, text) = post(&upstream, GEMINI, &body).await;
    assert_eq!(status, 200, "{text}");
    let events = events(&text);
    let last = &events.last().expect("events")["candidates"][0];
    assert_eq!(last["finishReason"], "STOP");
    let call = &last["content"]["parts"][0]["functionCall"];
    assert_eq!(
        call["args"],
        json!({ "file_path": "src/a.rs", "start_line": 11, "end_line": 20 })
    );
    assert!(last["content"]["parts"][0]["thoughtSignature"].is_string());
    assert_eq!(events[0]["modelVersion"], "gemini-2.5-pro");
}

#[tokio::test]
async fn a_streamed_answer_can_be_cut_at_any_byte() {
    let body = chat(&json!([{ "role": "user", "content": "look" }]));
    let upstream = Upstream::start(script()).await.expect("a port is free");
    let (_, whole) = post(&upstream, "/v1/chat/completions", &body).await;
    for bytes in [1, 7, 300, whole.len() - 1] {
        let upstream = Upstream::start(script().cut_at(bytes))
            .await
            .expect("a port is free");
        let (_, cut) = post(&upstream, "/v1/chat/completions", &body).await;
        assert_eq!(cut, whole[..bytes], "cut at {bytes}");
    }
}

/// What the real APIs refuse with status 400: path, body, and a word of the reason.
#[tokio::test]
async fn unpaired_bodies_are_refused_as_the_real_apis_do() {
    let user = json!({ "role": "user", "content": "look" });
    let used = json!({ "role": "assistant", "content": [{ "type": "tool_use", "id": "t1", "name": "Read", "input": {} }] });
    let result = |id: &str| json!({ "role": "user", "content": [{ "type": "tool_result", "tool_use_id": id, "content": "x" }] });
    let called = json!({ "role": "assistant", "content": null, "tool_calls": [{ "id": "c1", "type": "function", "function": { "name": "read", "arguments": "{}" } }] });
    let tool = |id: &str| json!({ "role": "tool", "tool_call_id": id, "content": "x" });
    let call = json!({ "type": "function_call", "call_id": "f1", "name": "exec_command", "arguments": "{}" });
    let output = |id: &str| json!({ "type": "function_call_output", "call_id": id, "output": "x" });
    let asked = json!({ "role": "user", "parts": [{ "text": "look" }] });
    let model = json!({ "role": "model", "parts": [{ "functionCall": { "name": "read_file", "args": {} } }] });
    let answered = json!({ "role": "user", "parts": [{ "functionResponse": { "name": "read_file", "response": {} } }] });
    let (messages, response, completions) =
        ("/v1/messages", "/v1/responses", "/v1/chat/completions");
    let cases = [
        (
            messages,
            anthropic(&json!([user, used, result("t1")])),
            None,
        ),
        (
            messages,
            anthropic(&json!([user, used])),
            Some("without `tool_result`"),
        ),
        (
            messages,
            anthropic(&json!([user, used, user])),
            Some("without `tool_result`"),
        ),
        (
            messages,
            anthropic(&json!([user, used, result("t2")])),
            Some("unexpected `tool_use_id`"),
        ),
        (
            messages,
            anthropic(&json!([user, result("t1")])),
            Some("unexpected `tool_use_id`"),
        ),
        (
            messages,
            anthropic(&json!([used, result("t1")])),
            Some("first message"),
        ),
        (
            messages,
            anthropic(&json!([])),
            Some("at least one message"),
        ),
        (completions, chat(&json!([user, called, tool("c1")])), None),
        (
            completions,
            chat(&json!([user, called, user])),
            Some("did not have response"),
        ),
        (
            completions,
            chat(&json!([user, called])),
            Some("did not have response"),
        ),
        (
            completions,
            chat(&json!([user, tool("c1")])),
            Some("must be a response"),
        ),
        (
            response,
            responses(&json!([user, call, output("f1")])),
            None,
        ),
        (
            response,
            responses(&json!([user, call])),
            Some("No tool output found"),
        ),
        (
            response,
            responses(&json!([user, output("f1")])),
            Some("No tool call found"),
        ),
        (GEMINI, gemini(&json!([asked, model, answered])), None),
        (
            GEMINI,
            gemini(&json!([asked, model])),
            Some("number of function response parts"),
        ),
        (
            GEMINI,
            gemini(&json!([asked, answered])),
            Some("number of function response parts"),
        ),
        (
            GEMINI,
            gemini(&json!([asked, model, asked])),
            Some("number of function response parts"),
        ),
    ];
    let upstream = Upstream::start(script()).await.expect("a port is free");
    for (path, body, reason) in cases {
        let (status, text) = post(&upstream, path, &body).await;
        match reason {
            None => assert_eq!(status, 200, "{path} {body}\n{text}"),
            Some(reason) => {
                assert_eq!(status, 400, "{path} {body}\n{text}");
                assert!(text.contains(reason), "{path} {body}\n{text}");
            }
        }
    }
    let refused = upstream
        .requests()
        .iter()
        .filter(|request| !request.problems.is_empty())
        .count();
    assert_eq!(refused, 14);
}

/// What real clients sent is what the upstream takes, in each format.
#[tokio::test]
async fn recorded_requests_are_accepted() {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/recorded");
    let cases = [
        ("claude-code/anthropic-request.json", "/v1/messages"),
        ("codex/responses-request.json", "/v1/responses"),
        ("opencode/chat-request.json", "/v1/chat/completions"),
        ("gemini-cli/gemini-request.json", GEMINI),
    ];
    let script = Script::new("/home/dev/shop").round("", vec![Turn::call([Op::read("src/a.rs")])]);
    let upstream = Upstream::start(script).await.expect("a port is free");
    for (file, path) in cases {
        let bytes = std::fs::read(folder.join(file)).expect("examples are there");
        let body: Value = serde_json::from_slice(&bytes).expect("a body is JSON");
        let (status, text) = post(&upstream, path, &body).await;
        assert_eq!(status, 200, "{file}: {text}");
        assert!(text.len() > 100, "{file}: {text}");
    }
    assert!(upstream.requests().iter().all(|request| request.has_tools));
}
