//! The survey: every token of a window attributed to a kind, a tool, a file and a state.
//! Deliberately derives nothing about pruning itself; the states are the planner's decisions.

use std::collections::BTreeMap;

use neenee_core::estimate::Measure;
use neenee_core::message::{Role, Tier};
use neenee_core::pressure::{
    CHARS_PER_TOKEN, ContextBudget, Decision, Planner, Reason, Setup, View,
};

/// What fills one window.
#[derive(Debug)]
pub(crate) struct Survey {
    /// The thresholds that the window is compared with.
    pub(crate) budget: ContextBudget,
    /// Estimated tokens of the whole window.
    pub(crate) tokens: usize,
    /// What pruning would give back now, threshold and floor aside.
    pub(crate) prunable_tokens: usize,
    pub(crate) messages: usize,
    pub(crate) calls: usize,
    pub(crate) kinds: Vec<(Kind, Share)>,
    /// By tool, largest first.
    pub(crate) tools: Vec<(String, Share)>,
    /// By file, largest first; a result on several files counts in full for each.
    pub(crate) files: Vec<(String, Share)>,
    pub(crate) states: Vec<(State, Share)>,
    /// Every result in order.
    pub(crate) results: Vec<Row>,
    /// Tokens in the window after each assistant message.
    pub(crate) turns: Vec<usize>,
}

/// How many, and what they weigh.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Share {
    pub(crate) count: usize,
    pub(crate) chars: usize,
    pub(crate) tokens: usize,
}

/// What a piece of a window is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    System,
    User,
    Assistant,
    Reasoning,
    Calls,
    Results,
    Other,
}

/// What the planner says of a result, in the words of a person who looks for room.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum State {
    Stale,
    Duplicate,
    Fresh,
    InPlay,
    Recent,
    Protected,
    Tiny,
    Degraded,
}

/// One tool result.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) decision: Decision,
    pub(crate) state: State,
    pub(crate) call_id: Option<String>,
    pub(crate) tool: String,
    pub(crate) label: String,
    pub(crate) is_error: bool,
}

impl Kind {
    pub(crate) const ALL: [Kind; 7] = [
        Kind::System,
        Kind::User,
        Kind::Assistant,
        Kind::Reasoning,
        Kind::Calls,
        Kind::Results,
        Kind::Other,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Kind::System => "system",
            Kind::User => "user",
            Kind::Assistant => "assistant",
            Kind::Reasoning => "reasoning",
            Kind::Calls => "tool calls",
            Kind::Results => "tool results",
            Kind::Other => "tool schemas and other",
        }
    }
}

impl State {
    pub(crate) const ALL: [State; 8] = [
        State::Stale,
        State::Duplicate,
        State::Fresh,
        State::InPlay,
        State::Recent,
        State::Protected,
        State::Tiny,
        State::Degraded,
    ];

    pub(crate) fn name(self) -> &'static str {
        match self {
            State::Stale => "stale",
            State::Duplicate => "duplicated",
            State::Fresh => "not in play",
            State::InPlay => "in play",
            State::Recent => "recent",
            State::Protected => "protected",
            State::Tiny => "too small to prune",
            State::Degraded => "pruned before",
        }
    }

    fn of(decision: &Decision, tier: Tier) -> State {
        match decision.reason {
            Reason::Mutated | Reason::Reread | Reason::Covered => State::Stale,
            Reason::Duplicate => State::Duplicate,
            Reason::Large | Reason::Small | Reason::Disposable | Reason::OverCap => State::Fresh,
            Reason::InPlay => State::InPlay,
            Reason::Recent | Reason::Unseen | Reason::Recalled => State::Recent,
            Reason::ProtectedTool | Reason::ProtectedFile | Reason::AlreadySent => State::Protected,
            Reason::AlreadyCleared | Reason::Escalated => State::Degraded,
            Reason::NotShorter if tier != Tier::Kept => State::Degraded,
            Reason::NotShorter => State::Tiny,
        }
    }
}

impl Share {
    fn add(&mut self, chars: usize, tokens: usize) {
        self.count += 1;
        self.chars += chars;
        self.tokens += tokens;
    }
}

/// Surveys the conversation that `views` show.
pub(crate) fn survey<'a>(
    views: impl Iterator<Item = View<'a>>,
    setup: Setup,
    budget: ContextBudget,
) -> Survey {
    let estimator = setup.estimator;
    let mut planner = Planner::new(std::sync::Arc::new(setup));
    let mut out = Survey {
        budget,
        tokens: 0,
        prunable_tokens: 0,
        messages: 0,
        calls: 0,
        kinds: Kind::ALL.map(|kind| (kind, Share::default())).to_vec(),
        tools: Vec::new(),
        files: Vec::new(),
        states: State::ALL.map(|state| (state, Share::default())).to_vec(),
        results: Vec::new(),
        turns: Vec::new(),
    };
    let mut speaker = Kind::User;
    let mut add = |kind: Kind, size: Measure| {
        share(&mut out.kinds, kind).add(size.chars, size.tokens);
    };
    for view in views {
        match view {
            View::Message(role) => {
                out.messages += 1;
                if role == Role::Assistant && planner.pressure_tokens() > 0 {
                    out.turns.push(planner.pressure_tokens());
                }
                speaker = match role {
                    Role::System => Kind::System,
                    Role::User | Role::Tool => Kind::User,
                    Role::Assistant => Kind::Assistant,
                };
            }
            View::Cwd(_) => {}
            View::Text(text) => add(speaker, estimator.measure(text)),
            View::Opaque(text) => add(Kind::Other, estimator.measure(text)),
            View::Reasoning { text, .. } => add(Kind::Reasoning, estimator.measure(text)),
            View::Weight { tokens } => add(Kind::Other, media(tokens)),
            View::Call(call) => {
                out.calls += 1;
                let size = estimator.measure(call.name) + estimator.measure(call.arguments);
                add(Kind::Calls, size);
            }
            View::Result(result) => {
                let tokens = result.media.iter().map(|media| media.tokens).sum();
                add(
                    Kind::Results,
                    estimator.measure(result.text) + media(tokens),
                );
            }
        }
        planner.push(&view);
    }
    out.tokens = planner.pressure_tokens();
    out.turns.push(out.tokens);
    results(&mut planner, &mut out);
    out
}

fn results(planner: &mut Planner, out: &mut Survey) {
    let mut tools: BTreeMap<String, Share> = BTreeMap::new();
    let mut files: BTreeMap<String, Share> = BTreeMap::new();
    for decision in planner.decisions() {
        let Some(info) = planner.result(decision.ordinal) else {
            continue;
        };
        let tool = if info.tool.is_empty() {
            "(no call)"
        } else {
            info.tool
        };
        let state = State::of(&decision, info.tier);
        out.prunable_tokens += decision.tokens.saved();
        tools
            .entry(tool.to_owned())
            .or_default()
            .add(info.chars, info.tokens);
        share(&mut out.states, state).add(info.chars, info.tokens);
        let mut seen: Vec<&str> = Vec::new();
        for target in info.targets {
            let path = target.path.as_str();
            if !seen.contains(&path) {
                seen.push(path);
                files
                    .entry(path.to_owned())
                    .or_default()
                    .add(info.chars, info.tokens);
            }
        }
        out.results.push(Row {
            state,
            call_id: info.call_id.map(str::to_owned),
            tool: tool.to_owned(),
            label: info.label.to_owned(),
            is_error: info.is_error,
            decision,
        });
    }
    out.tools = largest_first(tools);
    out.files = largest_first(files);
}

/// The rows with the most tokens, largest first.
pub(crate) fn biggest(survey: &Survey, count: usize) -> Vec<&Row> {
    let mut rows: Vec<&Row> = survey.results.iter().collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.decision.tokens.before));
    rows.truncate(count);
    rows
}

/// The share of `key`, of a list that holds every key.
fn share<K: PartialEq + Copy>(list: &mut Vec<(K, Share)>, key: K) -> &mut Share {
    let at = list.iter().position(|(known, _)| *known == key);
    let at = at.unwrap_or_else(|| {
        list.push((key, Share::default()));
        list.len() - 1
    });
    &mut list[at].1
}

fn largest_first(map: BTreeMap<String, Share>) -> Vec<(String, Share)> {
    let mut rows: Vec<_> = map.into_iter().collect();
    rows.sort_by_key(|(_, share)| std::cmp::Reverse(share.tokens));
    rows
}

fn media(tokens: usize) -> Measure {
    Measure {
        chars: tokens * CHARS_PER_TOKEN,
        lines: 0,
        tokens,
    }
}
