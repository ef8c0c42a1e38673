//! The front door of the harness: the agent, its rounds, and the layers that relieve its window.
//! Deliberately no policy of its own: thresholds and plans are core's, durability is the journal's.

mod calls;
pub mod compaction;
mod envoy;
pub mod ledger;
mod relief;
mod repeats;
pub mod response;
mod round;
pub mod window;

use std::sync::Arc;

use neenee_core::message::{Message, Part, Role, ToolResult};
use neenee_core::model::{self, RewriteRule};
use neenee_core::pressure::{self, CompactionPolicy, ContextBudget, PruneOptions, PruneOutcome};
use neenee_core::touch::ToolTable;

pub use compaction::{Author, CHECKPOINT_PREFIX, Compacted, CompactionHook};
pub use ledger::{ContextMeter, LedgerEntry, Purpose, TokenLedger, UsageSource};
pub use response::{AgentResponse, Sink, silent};
pub use round::{RoundEnd, RoundOutcome};
pub use window::Window;

use crate::journal::{self, Journal, JournalError, Projection, ProjectionKind};
use crate::provider::{Provider, ProviderError, RetryPolicy, Thinking, ToolSchema};
use crate::tool::{Approve, DenyAll, Project, ToolSet};
use repeats::Repeats;

/// The model that is asked, as long as no other one is set.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveModel {
    /// As the provider names it.
    pub name: String,
    /// What it accepts as input, in tokens; `None` asks the table of models.
    pub window_tokens: Option<usize>,
    /// The longest answer, in tokens; `None` leaves it to the provider.
    pub max_output_tokens: Option<usize>,
    /// How much it may think.
    pub thinking: Thinking,
}

impl LiveModel {
    /// A model with everything as the table and the provider have it.
    pub fn new(name: impl Into<String>) -> Self {
        LiveModel {
            name: name.into(),
            window_tokens: None,
            max_output_tokens: None,
            thinking: Thinking::Unasked,
        }
    }

    /// Its window, configured or known; `None` when nobody knows.
    pub fn window(&self) -> Option<usize> {
        self.window_tokens.or_else(|| {
            let known = model::find(&self.name)?;
            usize::try_from(known.input_window).ok()
        })
    }
}

/// How windows are projected to smaller ones.
#[derive(Clone, Debug, Default)]
pub struct ContextProjectionSettings {
    /// When each layer engages.
    pub policy: CompactionPolicy,
    /// What pruning spares. Its rewrite rule is the model's, unless `rewrite` is set.
    pub options: PruneOptions,
    /// The rewrite rule, whatever the model.
    pub rewrite: Option<RewriteRule>,
}

impl ContextProjectionSettings {
    /// The reclaim floor in chars: a smaller win never touches the window. Not configurable.
    pub const PRUNE_MIN_RECLAIM_CHARS: usize = pressure::PRUNE_MIN_RECLAIM_CHARS;

    fn options_for(&self, model: &LiveModel) -> PruneOptions {
        let rule = || model::traits(&model.name).rewrite();
        PruneOptions {
            protect_recent_chars: self.policy.protect_recent_chars(),
            min_reclaim_chars: Self::PRUNE_MIN_RECLAIM_CHARS,
            rewrite: self.rewrite.unwrap_or_else(rule),
            ..self.options.clone()
        }
    }
}

/// Relieves a window between two turns of a round.
pub trait ContextProjectionGate: Send + Sync {
    /// Projects the window, if it has to be and is worth it. Whatever leaves it is in the journal before this
    /// returns.
    ///
    /// # Errors
    /// When the journal failed; the window is then as it was.
    fn project(
        &self,
        window: &mut Window,
        journal: &mut dyn Journal,
        budget: &ContextBudget,
    ) -> Result<Option<PruneOutcome>, JournalError>;
}

/// Prunes in the middle of a round, by the same threshold as before it.
#[derive(Clone, Copy, Debug, Default)]
pub struct MidTurnPruneProjectionGate;

impl ContextProjectionGate for MidTurnPruneProjectionGate {
    fn project(
        &self,
        window: &mut Window,
        journal: &mut dyn Journal,
        budget: &ContextBudget,
    ) -> Result<Option<PruneOutcome>, JournalError> {
        prune_and_commit(window, journal, budget)
    }
}

/// Prunes old tool results when the pressure is over the threshold of the live model and the win is over the
/// floor; commits what was taken out before the window changes. Silent: a trace for developers is all.
///
/// # Errors
/// When the journal failed; the window is then as it was.
pub fn prune_and_commit(
    window: &mut Window,
    journal: &mut dyn Journal,
    budget: &ContextBudget,
) -> Result<Option<PruneOutcome>, JournalError> {
    let before = window.pressure_tokens();
    if !budget.prune_engages(before) {
        return Ok(None);
    }
    let Some(plan) = window.plan() else {
        return Ok(None);
    };
    let (messages, outcome) = window.project(&plan);
    journal.commit_context_projection(&Projection {
        kind: ProjectionKind::Prune,
        originals: &outcome.originals,
        archived: &[],
        window: &messages,
        tokens_before: before,
        tokens_after: before.saturating_sub(outcome.reclaimed_tokens),
    })?;
    window.adopt(&plan, messages);
    tracing::debug!(
        before,
        after = window.pressure_tokens(),
        threshold = budget.prune_threshold_tokens,
        truncated = outcome.truncated,
        cleared = outcome.cleared,
        "pruned tool results"
    );
    Ok(Some(outcome))
}

/// Everything an agent is made of besides its provider, its model and its journal.
#[derive(Clone)]
pub struct AgentOptions {
    /// The system prompt.
    pub system: String,
    /// The tools.
    pub tools: ToolSet,
    /// Where they work.
    pub project: Project,
    /// What their calls touch; rows that the tools declare are added.
    pub table: ToolTable,
    /// When and how the window is relieved.
    pub settings: ContextProjectionSettings,
    /// When a request is sent again.
    pub retry: RetryPolicy,
    /// Who allows writes and commands.
    pub approve: Arc<dyn Approve>,
    /// Who looks on at compactions.
    pub hooks: Vec<Arc<dyn CompactionHook>>,
    /// Who is told what happens.
    pub sink: Sink,
}

impl AgentOptions {
    /// Our tools in that project, defaults for the rest; nothing that has to be asked for is allowed.
    pub fn new(system: impl Into<String>, project: Project) -> Self {
        AgentOptions {
            system: system.into(),
            tools: ToolSet::builtin(),
            project,
            table: ToolTable::builtin(),
            settings: ContextProjectionSettings::default(),
            retry: RetryPolicy::default(),
            approve: Arc::new(DenyAll),
            hooks: Vec::new(),
            sink: silent(),
        }
    }
}

/// Why a round ended without an answer. The window stays whole, so that the session can go on.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The provider did not answer.
    #[error("get an answer: {0}")]
    Provider(#[from] ProviderError),
    /// The request does not fit the model's window, and tools of this round have run already, so that it is not
    /// played again.
    #[error(
        "fit the conversation into the model's window after tools had run in this round, which are not run again \
         ({0}); compact the session, or go on with a model that has a larger window"
    )]
    Overflow(ProviderError),
    /// The session could not be kept.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// A tool declares a row that the table of what calls touch cannot take.
    #[error("read what a tool declares to touch: {0}")]
    Tool(String),
}

/// An agent: a session with a model, round by round.
pub struct Agent {
    provider: Provider,
    model: LiveModel,
    journal: Box<dyn Journal>,
    options: AgentOptions,
    /// The table with the tools' rows.
    table: ToolTable,
    schemas: Vec<ToolSchema>,
    window: Window,
    gates: Vec<Box<dyn ContextProjectionGate>>,
    ledger: TokenLedger,
    repeats: Repeats,
    pruned_tokens: usize,
    purpose: Purpose,
    meter: Option<ContextMeter>,
}

impl Agent {
    /// An agent that goes on where `journal` is.
    ///
    /// # Errors
    /// When the journal cannot be read, or a tool declares what the table cannot take.
    pub fn new(
        provider: Provider,
        model: LiveModel,
        journal: Box<dyn Journal>,
        options: AgentOptions,
    ) -> Result<Self, AgentError> {
        let table = options
            .table
            .extended(&options.tools.rows())
            .map_err(|error| AgentError::Tool(error.message))?;
        let schemas = options.tools.schemas();
        let mut window = new_window(&model, &options, &table, &schemas);
        window.replace(journal.window()?);
        Ok(Agent {
            provider,
            model,
            journal,
            table,
            schemas,
            window,
            gates: vec![Box::new(MidTurnPruneProjectionGate)],
            ledger: TokenLedger::default(),
            repeats: Repeats::default(),
            pruned_tokens: 0,
            purpose: Purpose::Turn,
            meter: None,
            options,
        })
    }

    /// Asks another model from the next request on. Thresholds, estimates and the rewrite rule follow it.
    pub fn set_model(&mut self, provider: Provider, model: LiveModel) {
        self.provider = provider;
        self.model = model;
        let mut window = new_window(&self.model, &self.options, &self.table, &self.schemas);
        window.replace(self.window.messages().to_vec());
        self.window = window;
        self.meter = None;
    }

    /// The gates between turns, in the order in which they are asked.
    pub fn set_gates(&mut self, gates: Vec<Box<dyn ContextProjectionGate>>) {
        self.gates = gates;
    }

    /// Tells another one from now on.
    pub fn set_sink(&mut self, sink: Sink) {
        self.options.sink = sink;
    }

    /// The thresholds of the live model.
    pub fn budget(&self) -> ContextBudget {
        self.options.settings.policy.budget(self.model.window())
    }

    /// The model that is asked.
    pub fn model(&self) -> &LiveModel {
        &self.model
    }

    /// The window as the next request would send it.
    pub fn window(&self) -> &Window {
        &self.window
    }

    /// What requests have cost so far.
    pub fn ledger(&self) -> &TokenLedger {
        &self.ledger
    }

    /// How full the window is: as the provider counted the last request, else as we estimate the next.
    pub fn meter(&self) -> ContextMeter {
        self.meter.unwrap_or_else(|| ContextMeter {
            used_tokens: self.window.pressure_tokens(),
            window_tokens: self.budget().window_tokens,
            source: UsageSource::Estimated,
            pruned_tokens: self.pruned_tokens,
        })
    }

    /// Keeps a message and takes it into the window, in this order.
    fn append(&mut self, message: Message) -> Result<(), JournalError> {
        self.journal.append(&message)?;
        self.window.push(message);
        Ok(())
    }

    /// Answers calls that a session was ended in the middle of: whether they ran nobody knows, so they are
    /// not run again.
    fn mend(&mut self) -> Result<(), JournalError> {
        for (call_id, name) in journal::unanswered(self.window.messages()) {
            self.append(Message {
                role: Role::Tool,
                parts: vec![Part::Result(ToolResult {
                    call_id,
                    name: Some(name),
                    text: "Error: the session was interrupted before this tool's answer was recorded. It may \
                           have done its work or a part of it; look before doing it again."
                        .to_owned(),
                    failed: Some(true),
                    ..ToolResult::default()
                })],
            })?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent")
            .field("model", &self.model)
            .field("messages", &self.window.messages().len())
            .finish_non_exhaustive()
    }
}

fn new_window(
    model: &LiveModel,
    options: &AgentOptions,
    table: &ToolTable,
    schemas: &[ToolSchema],
) -> Window {
    Window::new(
        &model.name,
        options.settings.options_for(model),
        table.clone(),
        &options.system,
        schemas,
        &options.project.root().to_string_lossy(),
    )
}
