//! A conversation of a made-up agent, as the body of a request in each of the formats.
//! Deliberately what clients send: the whole history each time, from the first message on.

use serde_json::{Value, json};

/// The formats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Chat,
    Responses,
    Messages,
    Gemini,
}

impl Shape {
    pub(crate) const ALL: [Shape; 4] = [
        Shape::Chat,
        Shape::Responses,
        Shape::Messages,
        Shape::Gemini,
    ];

    pub(crate) fn path(self) -> &'static str {
        match self {
            Shape::Chat => "/v1/chat/completions",
            Shape::Responses => "/v1/responses",
            Shape::Messages => "/v1/messages",
            Shape::Gemini => "/v1beta/models/gemini-2.5-pro:generateContent",
        }
    }
}

/// One step of an agent: a file that it reads, and what it says before.
#[derive(Clone, Debug)]
pub(crate) struct Turn {
    pub(crate) id: String,
    pub(crate) file: String,
    pub(crate) said: String,
    pub(crate) result: String,
    /// A signature, for models that think.
    pub(crate) thought: Option<String>,
    /// What the user says after it.
    pub(crate) wish: Option<String>,
}

/// A conversation.
#[derive(Clone, Debug)]
pub(crate) struct Talk {
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) opening: String,
    pub(crate) turns: Vec<Turn>,
    /// Fields that the body has besides.
    pub(crate) extra: Value,
}

impl Talk {
    /// `turns` reads of files of their own, with results of about `chars` chars.
    pub(crate) fn reading(model: &str, turns: usize, chars: usize) -> Talk {
        let mut talk = Talk {
            model: model.to_owned(),
            system: "You are careful.".to_owned(),
            opening: format!("Look through the project, {turns} and {chars}."),
            turns: Vec::new(),
            extra: json!({}),
        };
        for _ in 0..turns {
            talk.read(chars);
        }
        talk
    }

    /// One more read.
    pub(crate) fn read(&mut self, chars: usize) {
        let number = self.turns.len();
        let mut result = String::new();
        for line in 1.. {
            if result.len() >= chars {
                break;
            }
            result.push_str(&format!(
                "{line}\tlet value_{line} = compute({number}, {line});\n"
            ));
        }
        self.turns.push(Turn {
            id: format!("call_{number:04}"),
            file: format!("/repo/src/part_{number}/unit{number}.rs"),
            said: format!("Step {number}."),
            result,
            thought: None,
            wish: None,
        });
    }

    pub(crate) fn body(&self, shape: Shape) -> Vec<u8> {
        let mut body = match shape {
            Shape::Chat => self.chat(),
            Shape::Responses => self.responses(),
            Shape::Messages => self.messages(),
            Shape::Gemini => self.gemini(),
        };
        for (key, value) in self.extra.as_object().unwrap() {
            body[key] = value.clone();
        }
        serde_json::to_vec(&body).unwrap()
    }

    fn chat(&self) -> Value {
        let mut messages = vec![
            json!({"role": "system", "content": self.system}),
            json!({"role": "user", "content": self.opening}),
        ];
        for turn in &self.turns {
            let arguments = json!({"file_path": turn.file}).to_string();
            messages.push(json!({"role": "assistant", "content": turn.said, "tool_calls": [
                {"id": turn.id, "type": "function", "function": {"name": "Read", "arguments": arguments}}]}));
            messages.push(json!({"role": "tool", "tool_call_id": turn.id, "content": turn.result}));
            if let Some(wish) = &turn.wish {
                messages.push(json!({"role": "assistant", "content": "Done."}));
                messages.push(json!({"role": "user", "content": wish}));
            }
        }
        json!({"model": self.model, "messages": messages, "stream": false,
            "tools": [{"type": "function", "function": {"name": "Read", "parameters": {"type": "object",
                "properties": {"file_path": {"type": "string"}}}}}]})
    }

    fn responses(&self) -> Value {
        let mut input = vec![json!({"role": "user", "content": self.opening})];
        for turn in &self.turns {
            let arguments = json!({"file_path": turn.file}).to_string();
            input.push(json!({"type": "message", "role": "assistant", "content":
                [{"type": "output_text", "text": turn.said}]}));
            input.push(json!({"type": "function_call", "call_id": turn.id, "name": "Read", "arguments": arguments}));
            input.push(
                json!({"type": "function_call_output", "call_id": turn.id, "output": turn.result}),
            );
            if let Some(wish) = &turn.wish {
                input.push(json!({"type": "message", "role": "assistant", "content":
                    [{"type": "output_text", "text": "Done."}]}));
                input.push(json!({"role": "user", "content": wish}));
            }
        }
        json!({"model": self.model, "instructions": self.system, "input": input, "stream": false,
            "tools": [{"type": "function", "name": "Read", "parameters": {"type": "object",
                "properties": {"file_path": {"type": "string"}}}}]})
    }

    fn messages(&self) -> Value {
        let mut messages = vec![json!({"role": "user", "content": self.opening})];
        for turn in &self.turns {
            let mut content = Vec::new();
            if let Some(signature) = &turn.thought {
                content
                    .push(json!({"type": "thinking", "thinking": "Hm.", "signature": signature}));
            }
            content.push(json!({"type": "text", "text": turn.said}));
            content.push(json!({"type": "tool_use", "id": turn.id, "name": "Read",
                "input": {"file_path": turn.file}}));
            messages.push(json!({"role": "assistant", "content": content}));
            messages.push(json!({"role": "user", "content": [{"type": "tool_result",
                "tool_use_id": turn.id, "content": turn.result}]}));
            if let Some(wish) = &turn.wish {
                messages.push(
                    json!({"role": "assistant", "content": [{"type": "text", "text": "Done."}]}),
                );
                messages.push(json!({"role": "user", "content": wish}));
            }
        }
        // As Claude Code does: the marker is on the newest message, and moves with each request.
        if let Some(last) = messages.last_mut()
            && let Some(block) = last["content"].as_array_mut().and_then(|it| it.last_mut())
        {
            block["cache_control"] = json!({"type": "ephemeral"});
        }
        json!({"model": self.model, "max_tokens": 1000, "messages": messages,
            "system": [{"type": "text", "text": self.system}],
            "tools": [{"name": "Read", "input_schema": {"type": "object",
                "properties": {"file_path": {"type": "string"}}}}]})
    }

    fn gemini(&self) -> Value {
        let mut contents = vec![json!({"role": "user", "parts": [{"text": self.opening}]})];
        for turn in &self.turns {
            contents.push(json!({"role": "model", "parts": [{"text": turn.said},
                {"functionCall": {"name": "Read", "args": {"file_path": turn.file}}}]}));
            contents.push(
                json!({"role": "user", "parts": [{"functionResponse": {"name": "Read",
                "response": {"output": turn.result}}}]}),
            );
            if let Some(wish) = &turn.wish {
                contents.push(json!({"role": "model", "parts": [{"text": "Done."}]}));
                contents.push(json!({"role": "user", "parts": [{"text": wish}]}));
            }
        }
        json!({"contents": contents, "systemInstruction": {"parts": [{"text": self.system}]},
            "tools": [{"functionDeclarations": [{"name": "Read", "parameters": {"type": "OBJECT",
                "properties": {"file_path": {"type": "STRING"}}}}]}]})
    }
}

/// The contents of the results of a body, in order.
pub(crate) fn results(shape: Shape, body: &[u8]) -> Vec<String> {
    let mut body: Value = serde_json::from_slice(body).unwrap();
    let slots = slots(shape, &mut body);
    slots
        .into_iter()
        .map(|slot| slot.as_str().unwrap_or_else(|| panic!("{slot}")).to_owned())
        .collect()
}

/// The body as JSON with other contents of its results.
pub(crate) fn with_results(shape: Shape, body: &[u8], contents: &[String]) -> Value {
    let mut body: Value = serde_json::from_slice(body).unwrap();
    for (slot, content) in slots(shape, &mut body).into_iter().zip(contents) {
        *slot = json!(content);
    }
    body
}

fn slots(shape: Shape, body: &mut Value) -> Vec<&mut Value> {
    match shape {
        Shape::Chat => body["messages"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .filter(|message| message["role"] == "tool")
            .map(|message| &mut message["content"])
            .collect(),
        Shape::Responses => body["input"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .filter(|item| item["type"] == "function_call_output")
            .map(|item| &mut item["output"])
            .collect(),
        Shape::Messages => body["messages"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .filter_map(|message| message["content"].as_array_mut())
            .flatten()
            .filter(|block| block["type"] == "tool_result")
            .map(|block| &mut block["content"])
            .collect(),
        Shape::Gemini => body["contents"]
            .as_array_mut()
            .unwrap()
            .iter_mut()
            .filter_map(|content| content["parts"].as_array_mut())
            .flatten()
            .filter(|part| part.get("functionResponse").is_some())
            .map(|part| &mut part["functionResponse"]["response"]["output"])
            .collect(),
    }
}
