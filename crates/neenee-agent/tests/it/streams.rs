//! Streams of each format with every kind of event, cut at every byte: the answer is the same.
//! Deliberately the shapes that the official clients document, written out, with what real servers add.

use neenee_agent::provider::{Decoder, ProviderErrorKind, Reply, Stop, StreamEvent, Usage, Wire};
use neenee_core::message::{Part, Reasoning, ToolCall};

/// Decodes a stream that comes in these pieces.
fn decode(wire: Wire, pieces: &[&[u8]]) -> (Reply, String) {
    let mut decoder = Decoder::new(wire, 7);
    let mut shown = String::new();
    for piece in pieces {
        decoder
            .push(piece, &mut |event| match event {
                StreamEvent::Text(text) => shown.push_str(&text),
                StreamEvent::Reasoning(text) => shown.push_str(&text.to_uppercase()),
                StreamEvent::CallBegun { index, id, name } => {
                    shown.push_str(&format!("<{index} {id} {name}>"));
                }
                StreamEvent::CallArguments { index, text } => {
                    // Pieces of arguments are cut where the server cuts them; joined they are the same.
                    shown.push_str(&format!("({index}){text}"));
                }
            })
            .unwrap();
    }
    assert!(decoder.ended());
    (decoder.finish().unwrap(), shown)
}

#[track_caller]
fn check(wire: Wire, stream: &str, parts: &[Part], usage: Usage, stop: Stop) {
    let bytes = stream.as_bytes();
    let whole = decode(wire, &[bytes]);
    assert_eq!(whole.0.message.parts, parts);
    assert_eq!(whole.0.usage, Some(usage));
    assert_eq!(whole.0.stop, stop);
    for cut in 1..bytes.len() {
        assert_eq!(
            decode(wire, &[&bytes[..cut], &bytes[cut..]]),
            whole,
            "cut at {cut}"
        );
    }
    let single: Vec<&[u8]> = bytes.chunks(1).collect();
    assert_eq!(decode(wire, &single), whole);
    // A stream that ends before its end is no answer; neither is half of one.
    let mut decoder = Decoder::new(wire, 7);
    let early = &bytes[..bytes.len() / 2];
    decoder.push(early, &mut |_| ()).unwrap();
    assert_eq!(
        decoder.finish().unwrap_err().kind,
        ProviderErrorKind::Connection
    );
}

fn call(id: &str, name: &str, arguments: &str) -> Part {
    Part::Call(ToolCall {
        id: Some(id.into()),
        name: name.into(),
        arguments: arguments.into(),
    })
}

#[test]
fn chat_completions() {
    let stream = r#": OPENROUTER PROCESSING

data: {"id":"c1","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}],"usage":null}

data: {"choices":[{"index":0,"delta":{"reasoning_content":"Let me "}}]}

data: {"choices":[{"index":0,"delta":{"reasoning_content":"see. 🧐"}}]}

data: {"choices":[{"index":0,"delta":{"content":"I look"}}]}

data: {"choices":[{"index":0,"delta":{"content":" at größe."}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"call_a","type":"function","function":{"name":"read","arguments":""}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{\"path\":"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"\"a.rs\"}"}}]}}]}

data: {"choices":[{"index":0,"delta":{"tool_calls":[{"index":1,"id":"call_b","type":"function","function":{"name":"list","arguments":"{}"}}]}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}

data: {"choices":[],"usage":{"prompt_tokens":120,"completion_tokens":30,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":100},"completion_tokens_details":{"reasoning_tokens":10}}}

data: [DONE]

"#;
    let parts = [
        Part::Reasoning(Reasoning {
            text: "Let me see. 🧐".into(),
            signature: None,
        }),
        Part::Text("I look at größe.".into()),
        call("call_a", "read", r#"{"path":"a.rs"}"#),
        call("call_b", "list", "{}"),
    ];
    let usage = Usage {
        input: 120,
        output: 30,
        cache_read: 100,
        cache_write: 0,
    };
    check(Wire::Chat, stream, &parts, usage, Stop::Calls);
    // CRLF, as some proxies make of it.
    check(
        Wire::Chat,
        &stream.replace('\n', "\r\n"),
        &parts,
        usage,
        Stop::Calls,
    );
}

#[test]
fn anthropic_messages() {
    let stream = r#"event: message_start
data: {"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","model":"claude","content":[],"stop_reason":null,"usage":{"input_tokens":25,"cache_creation_input_tokens":40,"cache_read_input_tokens":1000,"output_tokens":1}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}

event: ping
data: {"type": "ping"}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hmm, "}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"größe."}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"EqQBCg=="}}

event: content_block_stop
data: {"type":"content_block_stop","index":0}

event: content_block_start
data: {"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"EmwKAh"}}

event: content_block_stop
data: {"type":"content_block_stop","index":1}

event: content_block_start
data: {"type":"content_block_start","index":2,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"Okay"}}

event: content_block_delta
data: {"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":", both."}}

event: content_block_stop
data: {"type":"content_block_stop","index":2}

event: content_block_start
data: {"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"read","input":{}}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"path\": \"a"}}

event: content_block_delta
data: {"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":".rs\"}"}}

event: content_block_stop
data: {"type":"content_block_stop","index":3}

event: content_block_start
data: {"type":"content_block_start","index":4,"content_block":{"type":"tool_use","id":"toolu_2","name":"list","input":{}}}

event: content_block_stop
data: {"type":"content_block_stop","index":4}

event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":89},"context_management":{"applied_edits":[{"type":"clear_tool_uses_20250919","cleared_tool_uses":8,"cleared_input_tokens":50000}]}}

event: message_stop
data: {"type":"message_stop"}

"#;
    let parts = [
        Part::Reasoning(Reasoning {
            text: "Hmm, größe.".into(),
            signature: Some("EqQBCg==".into()),
        }),
        Part::Opaque(r#"{"data":"EmwKAh","type":"redacted_thinking"}"#.into()),
        Part::Text("Okay, both.".into()),
        call("toolu_1", "read", r#"{"path": "a.rs"}"#),
        call("toolu_2", "list", ""),
    ];
    let usage = Usage {
        input: 1_065,
        output: 89,
        cache_read: 1_000,
        cache_write: 40,
    };
    check(Wire::Anthropic, stream, &parts, usage, Stop::Calls);
    let (reply, _) = decode(Wire::Anthropic, &[stream.as_bytes()]);
    assert_eq!(reply.cleared_by_provider_tokens, 50_000);
}

#[test]
fn openai_responses() {
    let stream = r#"event: response.created
data: {"type":"response.created","sequence_number":0,"response":{"id":"resp_1","status":"in_progress","output":[]}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[]}}

event: response.reasoning_summary_part.added
data: {"type":"response.reasoning_summary_part.added","item_id":"rs_1","output_index":0,"summary_index":0,"part":{"type":"summary_text","text":""}}

event: response.reasoning_summary_text.delta
data: {"type":"response.reasoning_summary_text.delta","item_id":"rs_1","output_index":0,"summary_index":0,"delta":"Größe"}

event: response.reasoning_summary_text.done
data: {"type":"response.reasoning_summary_text.done","item_id":"rs_1","output_index":0,"summary_index":0,"text":"Größe"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"Größe"}],"encrypted_content":"gAAAA","status":"completed"}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":1,"item":{"type":"message","id":"msg_1","status":"in_progress","role":"assistant","content":[]}}

event: response.content_part.added
data: {"type":"response.content_part.added","item_id":"msg_1","output_index":1,"content_index":0,"part":{"type":"output_text","text":"","annotations":[]}}

event: response.output_text.delta
data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"I "}

event: response.output_text.delta
data: {"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"look."}

event: response.output_text.done
data: {"type":"response.output_text.done","item_id":"msg_1","output_index":1,"content_index":0,"text":"I look."}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":1,"item":{"type":"message","id":"msg_1","status":"completed","role":"assistant","content":[{"type":"output_text","text":"I look.","annotations":[]}]}}

event: response.output_item.added
data: {"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"","status":"in_progress"}}

event: response.function_call_arguments.delta
data: {"type":"response.function_call_arguments.delta","item_id":"fc_1","output_index":2,"delta":"{\"path\":\"a.rs\"}"}

event: response.function_call_arguments.done
data: {"type":"response.function_call_arguments.done","item_id":"fc_1","output_index":2,"arguments":"{\"path\":\"a.rs\"}"}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"read","arguments":"{\"path\":\"a.rs\"}","status":"completed"}}

event: response.output_item.done
data: {"type":"response.output_item.done","output_index":3,"item":{"type":"function_call","id":"fc_2","call_id":"call_2","name":"list","arguments":"{}","status":"completed"}}

event: response.completed
data: {"type":"response.completed","response":{"id":"resp_1","status":"completed","usage":{"input_tokens":75,"input_tokens_details":{"cached_tokens":64},"output_tokens":20,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":95}}}

"#;
    let parts = [
        Part::Opaque(
            r#"{"encrypted_content":"gAAAA","id":"rs_1","summary":[{"text":"Größe","type":"summary_text"}],"type":"reasoning"}"#
                .into(),
        ),
        Part::Text("I look.".into()),
        call("call_1", "read", r#"{"path":"a.rs"}"#),
        call("call_2", "list", "{}"),
    ];
    let usage = Usage {
        input: 75,
        output: 20,
        cache_read: 64,
        cache_write: 0,
    };
    check(Wire::Responses, stream, &parts, usage, Stop::Calls);
}

#[test]
fn errors_in_the_middle_of_a_stream() {
    let fails = |wire, data: &str| {
        let stream = format!("data: {data}\n\n");
        let mut decoder = Decoder::new(wire, 7);
        let error = decoder.push(stream.as_bytes(), &mut |_| ()).unwrap_err();
        error.kind
    };
    use ProviderErrorKind::{Overflow, Protocol, RateLimited, Unavailable};
    let overloaded =
        r#"{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}"#;
    assert_eq!(fails(Wire::Anthropic, overloaded), Unavailable);
    let failed = r#"{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model."}}}"#;
    assert_eq!(fails(Wire::Responses, failed), Overflow);
    let limited = r#"{"type":"error","code":"rate_limit_exceeded","message":"Rate limit reached","param":null}"#;
    assert_eq!(fails(Wire::Responses, limited), RateLimited);
    let upstream = r#"{"id":"x","error":{"code":"server_error","message":"Provider disconnected"},"choices":[{"delta":{"content":""},"finish_reason":"error"}]}"#;
    assert_eq!(fails(Wire::Chat, upstream), Unavailable);
    let llama = r#"{"error":{"code":400,"message":"the request exceeds the available context size (4096 tokens)","type":"exceed_context_size_error"}}"#;
    assert_eq!(fails(Wire::Chat, llama), Overflow);
    assert_eq!(fails(Wire::Chat, "<html>"), Protocol);
}

#[test]
fn servers_that_number_every_call_zero_or_give_no_id() {
    let stream = br#"data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"read","arguments":"{}"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"index":0,"id":"b","function":{"name":"list","arguments":"{}"}}]}}]}

data: {"choices":[{"delta":{"tool_calls":[{"function":{"name":"glob","arguments":{"pattern":"*"}}}]}}]}

data: {"choices":[{"delta":{},"finish_reason":"stop"}]}

"#;
    let mut decoder = Decoder::new(Wire::Chat, 7);
    decoder.push(stream, &mut |_| ()).unwrap();
    // No `[DONE]`: the reason for the stop is the end.
    let reply = decoder.finish().unwrap();
    assert_eq!(reply.stop, Stop::Calls);
    let Part::Call(last) = &reply.message.parts[2] else {
        panic!("{reply:?}");
    };
    assert_eq!(last.arguments, r#"{"pattern":"*"}"#);
    assert!(last.id.as_deref().is_some_and(|id| !id.is_empty()));
    assert_eq!(reply.message.parts[0], call("a", "read", "{}"));
    assert_eq!(reply.message.parts[1], call("b", "list", "{}"));
}
