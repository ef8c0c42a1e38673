//! What the harness itself costs a turn with 200 000 tokens of history: measure, plan, write the request.
//! Deliberately without the provider, the tools and the disk, which cost what they cost.

use divan::{Bencher, black_box};
use neenee_agent::orchestration::Window;
use neenee_agent::provider::{Endpoint, Provider, Request, Wire};
use neenee_agent::tool::ToolSet;
use neenee_core::message::{Message, Part, Role, ToolCall, ToolResult};
use neenee_core::pressure::PruneOptions;
use neenee_core::touch::ToolTable;

const TOKENS: usize = 200_000;

fn main() {
    divan::main();
}

/// A call and its result, of about 1 000 tokens.
fn turn(number: usize) -> [Message; 2] {
    let id = format!("call_{number}");
    let text: String = (0..60)
        .map(|line| {
            format!(
                "{:>6}\tlet value_{line} = compute(step, {number});\n",
                line + 1
            )
        })
        .collect();
    let call = Part::Call(ToolCall {
        id: Some(id.clone()),
        name: "read".into(),
        arguments: format!(r#"{{"path":"src/module_{number}.rs"}}"#),
    });
    let result = Part::Result(ToolResult {
        call_id: Some(id),
        text,
        ..ToolResult::default()
    });
    let message = |role, part| Message {
        role,
        parts: vec![part],
    };
    [message(Role::Assistant, call), message(Role::Tool, result)]
}

fn window() -> Window {
    let schemas = ToolSet::builtin().schemas();
    let mut window = Window::new(
        "claude-sonnet-4-5",
        PruneOptions::default(),
        ToolTable::builtin(),
        "You are a coding agent.",
        &schemas,
        "/project",
    );
    window.push(Message {
        role: Role::User,
        parts: vec![Part::Text("Go.".into())],
    });
    let mut number = 0;
    while window.pressure_tokens() < TOKENS {
        for message in turn(number) {
            window.push(message);
        }
        number += 1;
    }
    window
}

/// Two messages join the window: measured, paired, entered.
#[divan::bench]
fn feed(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(|| (window(), turn(9_999)))
        .bench_local_values(|(mut window, turn)| {
            for message in turn {
                window.push(message);
            }
            black_box(window.pressure_tokens());
            window
        });
}

/// The gate is over its threshold: a plan, and the window after it.
#[divan::bench]
fn plan_and_project(bencher: Bencher<'_, '_>) {
    bencher
        .with_inputs(window)
        .bench_local_values(|mut window| {
            let plan = window.plan().unwrap();
            black_box(window.project(&plan));
            window
        });
}

/// The body of the next request.
#[divan::bench(args = ["chat", "anthropic", "responses"])]
fn encode(bencher: Bencher<'_, '_>, wire: &str) {
    let wire = match wire {
        "chat" => Wire::Chat,
        "anthropic" => Wire::Anthropic,
        _ => Wire::Responses,
    };
    let provider = Provider::new(Endpoint::new(wire, "http://127.0.0.1/v1")).unwrap();
    let (window, schemas) = (window(), ToolSet::builtin().schemas());
    bencher.bench_local(|| {
        let mut request = Request::new("m", "You are a coding agent.", window.messages());
        request.tools = &schemas;
        black_box(provider.encode(&request).unwrap())
    });
}
