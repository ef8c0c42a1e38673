//! A project folder, a scripted upstream and an agent between them.
//! Deliberately real tools and a real server; only the model is scripted.

use std::path::Path;
use std::sync::{Arc, Mutex};

use neenee_agent::journal::MemoryJournal;
use neenee_agent::provider::{Endpoint, Provider, RetryPolicy, Wire};
use neenee_agent::tool::{AllowAll, Project};
use neenee_agent::{Agent, AgentOptions, AgentResponse, LiveModel, Secret};
use neenee_core::message::{Message, Part, ToolResult};
use neenee_testkit::upstream::{Received, Script, Upstream};
use serde_json::Value;
use tempfile::TempDir;

/// The key that no body, log or error may hold.
pub(crate) const KEY: &str = "sk-test-never-shown-0123456789";

/// Everything that a test holds on to.
pub(crate) struct Bed {
    pub(crate) folder: TempDir,
    pub(crate) upstream: Upstream,
    pub(crate) agent: Agent,
    pub(crate) journal: Arc<Mutex<MemoryJournal>>,
    pub(crate) seen: Arc<Mutex<Vec<AgentResponse>>>,
}

/// A project folder with a place for whole outputs beside it.
pub(crate) fn folder() -> TempDir {
    let folder = TempDir::new().unwrap();
    for name in ["project", "spill"] {
        std::fs::create_dir(folder.path().join(name)).unwrap();
    }
    folder
}

pub(crate) fn root(folder: &TempDir) -> String {
    let root = folder.path().join("project").canonicalize().unwrap();
    root.to_str().unwrap().to_owned()
}

/// A file of `lines` lines that no other file has.
pub(crate) fn file(folder: &TempDir, name: &str, lines: usize) -> String {
    let text: String = (1..=lines)
        .map(|line| format!("{name} says {} on line {line}\n", (line * 7919) % 9973))
        .collect();
    std::fs::write(Path::new(&root(folder)).join(name), &text).unwrap();
    text
}

impl Bed {
    /// An agent with a window of `window` tokens; `adjust` may change what it is made of.
    pub(crate) async fn new(
        folder: TempDir,
        wire: Wire,
        script: Script,
        window: usize,
        adjust: impl FnOnce(&mut AgentOptions, &mut LiveModel),
    ) -> Self {
        let upstream = Upstream::start(script).await.unwrap();
        let project = Project::new(Path::new(&root(&folder)), &folder.path().join("spill"));
        let mut options = AgentOptions::new("You work on a project.", project.unwrap());
        let seen: Arc<Mutex<Vec<AgentResponse>>> = Arc::default();
        let sink = Arc::clone(&seen);
        options.sink = Arc::new(move |response| sink.lock().unwrap().push(response));
        options.approve = Arc::new(AllowAll);
        options.retry = RetryPolicy {
            base: std::time::Duration::from_millis(5),
            ..RetryPolicy::default()
        };
        let mut model = LiveModel::new("scripted");
        model.window_tokens = Some(window);
        adjust(&mut options, &mut model);
        let journal: Arc<Mutex<MemoryJournal>> = Arc::default();
        let provider = provider(wire, &upstream);
        let kept = Box::new(Arc::clone(&journal));
        let agent = Agent::new(provider, model, kept, options).unwrap();
        Bed {
            folder,
            upstream,
            agent,
            journal,
            seen,
        }
    }

    /// The bodies of all requests so far; none may be what the real API refuses, none may hold the key.
    #[track_caller]
    pub(crate) fn bodies(&self) -> Vec<Value> {
        let requests = self.upstream.requests();
        requests.iter().map(body).collect()
    }

    pub(crate) fn compactions(&self) -> usize {
        let seen = self.seen.lock().unwrap();
        seen.iter()
            .filter(|response| matches!(response, AgentResponse::Compacted(_)))
            .count()
    }
}

pub(crate) fn provider(wire: Wire, upstream: &Upstream) -> Provider {
    let endpoint = Endpoint::new(wire, format!("{}/v1", upstream.url()));
    Provider::new(endpoint.with_key(Secret::new(KEY))).unwrap()
}

#[track_caller]
fn body(request: &Received) -> Value {
    assert_eq!(request.problems, Vec::<String>::new());
    let text = std::str::from_utf8(&request.body).unwrap();
    assert!(!text.contains(KEY));
    serde_json::from_str(text).unwrap()
}

/// The messages of a body, without marks that move from request to request.
pub(crate) fn messages(body: &Value) -> Vec<Value> {
    let list = body["messages"].as_array().or(body["input"].as_array());
    let mut messages = list.unwrap().clone();
    for message in &mut messages {
        if let Some(blocks) = message["content"].as_array_mut() {
            for block in blocks {
                if let Some(fields) = block.as_object_mut() {
                    fields.remove("cache_control");
                }
            }
        }
    }
    messages
}

/// How many messages at the front of both are the same.
pub(crate) fn common(before: &Value, after: &Value) -> usize {
    let (before, after) = (messages(before), messages(after));
    before
        .iter()
        .zip(&after)
        .take_while(|(a, b)| a == b)
        .count()
}

/// All results of a conversation, in order, those of envoys after their own.
pub(crate) fn results(messages: &[Message]) -> Vec<&ToolResult> {
    let mut all = Vec::new();
    for part in messages.iter().flat_map(|message| &message.parts) {
        if let Part::Result(result) = part {
            all.push(result);
            all.extend(results(&result.children));
        }
    }
    all
}

/// Every result that was ever in the window is still to be had, whole: in the window, or in what left it.
#[track_caller]
pub(crate) fn assert_recoverable(journal: &MemoryJournal, window: &[Message]) {
    let mut kept: Vec<(Option<&str>, &str)> = results(window)
        .into_iter()
        .chain(results(journal.archived()))
        .map(|result| (result.call_id.as_deref(), result.text.as_str()))
        .collect();
    kept.extend(
        journal
            .originals()
            .iter()
            .map(|original| (original.call_id.as_deref(), original.text.as_str())),
    );
    kept.sort_unstable();
    for result in results(journal.transcript()) {
        let wanted = (result.call_id.as_deref(), result.text.as_str());
        assert!(kept.binary_search(&wanted).is_ok(), "{wanted:?} is lost");
    }
}
