//! The model window in memory: the messages, and a planner that has been fed each of them once.
//! Deliberately not durable: whatever changes it is told to a journal by whoever changes it.

use std::sync::Arc;

use neenee_core::estimate::Estimator;
use neenee_core::message::{Degraded, Message, Part};
use neenee_core::model;
use neenee_core::pressure::{
    Delegated, Plan, Planner, PruneOptions, PruneOutcome, Setup, View, apply, views,
};
use neenee_core::touch::ToolTable;

use super::compaction::CHECKPOINT_PREFIX;
use crate::provider::ToolSchema;

/// What providers count for the frame of a message or of a call: role, name, separators. OpenAI documents 3 to 4;
/// on small windows with many short messages it adds up.
const FRAME_TOKENS: usize = 4;

/// The window, measured.
#[derive(Debug)]
pub struct Window {
    messages: Vec<Message>,
    planner: Planner,
    setup: Arc<Setup>,
    /// What stands before the messages in every request.
    system: String,
    tools: String,
    cwd: String,
}

impl Window {
    /// An empty window of the model `name`. `options` carries the rewrite rule that it is planned for; `cwd` is the
    /// folder that relative paths of the conversation start from.
    pub fn new(
        name: &str,
        options: PruneOptions,
        table: ToolTable,
        system: &str,
        tools: &[ToolSchema],
        cwd: &str,
    ) -> Self {
        let traits = model::traits(name);
        let setup = Arc::new(Setup {
            tools: table,
            options,
            estimator: Estimator::new(traits.family).with_factor(traits.token_factor),
        });
        let mut window = Window {
            messages: Vec::new(),
            planner: Planner::new(Arc::clone(&setup)),
            setup,
            system: system.to_owned(),
            tools: tools.iter().map(described).collect(),
            cwd: cwd.to_owned(),
        };
        window.restart();
        window
    }

    /// The messages, as the next request sends them.
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The estimate of the next request in tokens: system prompt, tool schemas, messages, children.
    pub fn pressure_tokens(&self) -> usize {
        self.planner.pressure_tokens()
    }

    /// Takes one more message.
    pub fn push(&mut self, message: Message) {
        feed(&mut self.planner, &message);
        self.messages.push(message);
    }

    /// Holds these messages from now on.
    pub fn replace(&mut self, messages: Vec<Message>) {
        self.messages = messages;
        self.restart();
    }

    /// What pruning would do now; `None` when it is not worth it. Nothing is changed.
    pub fn plan(&mut self) -> Option<Plan> {
        let plan = self.planner.plan();
        (!plan.is_empty() && self.planner.exceeds_floor(&plan)).then_some(plan)
    }

    /// The messages after `plan`, and what leaves them; the window is not changed yet.
    pub fn project(&self, plan: &Plan) -> (Vec<Message>, PruneOutcome) {
        let left = self.planner.left(plan);
        let mut messages = self.messages.clone();
        let outcome = apply(&mut messages, plan.clone(), left);
        (messages, outcome)
    }

    /// Takes over what [`project`](Self::project) made of `plan`.
    pub fn adopt(&mut self, plan: &Plan, messages: Vec<Message>) {
        self.planner.record(plan);
        self.messages = messages;
    }

    /// Estimated tokens of each message, children and frames included.
    pub fn sizes(&self) -> Vec<usize> {
        self.messages
            .iter()
            .map(|message| {
                let mut planner = Planner::new(Arc::clone(&self.setup));
                feed(&mut planner, message);
                planner.pressure_tokens()
            })
            .collect()
    }

    /// Estimated tokens of what is sent besides the messages.
    pub fn fixed_tokens(&self) -> usize {
        let estimator = &self.setup.estimator;
        estimator.tokens(&self.system) + estimator.tokens(&self.tools)
    }

    /// How the model's tokens are estimated.
    pub fn estimator(&self) -> &Estimator {
        &self.setup.estimator
    }

    /// What each tool's calls touch.
    pub fn table(&self) -> &ToolTable {
        &self.setup.tools
    }

    /// How many messages at the front are a checkpoint of earlier rounds: 1 or 0.
    pub fn carried(&self) -> usize {
        let first = self.messages.first().and_then(|first| first.parts.first());
        let is_checkpoint =
            matches!(first, Some(Part::Text(text)) if text.starts_with(CHECKPOINT_PREFIX));
        usize::from(is_checkpoint)
    }

    /// Whether something that had been sent was edited: reasoning that a provider has signed over it no longer
    /// fits then.
    pub fn is_edited(&self) -> bool {
        self.carried() > 0
            || results(&self.messages).any(|degraded: Option<Degraded>| degraded.is_some())
    }

    /// The parameters of the provider's own clearing.
    pub fn delegated(&mut self, trigger_tokens: usize) -> Delegated {
        self.planner.delegated(trigger_tokens)
    }

    fn restart(&mut self) {
        let mut planner = Planner::new(Arc::clone(&self.setup));
        planner.push(&View::Cwd(&self.cwd));
        planner.push(&View::Message(neenee_core::message::Role::System));
        planner.push(&View::Opaque(&self.system));
        planner.push(&View::Opaque(&self.tools));
        for message in &self.messages {
            feed(&mut planner, message);
        }
        self.planner = planner;
    }
}

fn feed(planner: &mut Planner, message: &Message) {
    for view in views(std::slice::from_ref(message)) {
        let framed = matches!(view, View::Message(_) | View::Call(_) | View::Result(_));
        planner.push(&view);
        if framed {
            planner.push(&View::Weight {
                tokens: FRAME_TOKENS,
            });
        }
    }
}

fn results(messages: &[Message]) -> impl Iterator<Item = Option<Degraded>> + '_ {
    messages
        .iter()
        .flat_map(|message| &message.parts)
        .filter_map(|part| match part {
            Part::Result(result) => Some(result.degraded),
            _ => None,
        })
}

/// A tool as it weighs in a request.
fn described(schema: &ToolSchema) -> String {
    format!(
        "{}\n{}\n{}\n",
        schema.name, schema.description, schema.parameters
    )
}
