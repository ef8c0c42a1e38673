//! What is known of models: windows, prices, tokenizers, and what editing their history costs.
//! Deliberately not a client of any provider: facts in a table, no requests.

mod image;
mod name;
mod resolve;
mod table;
mod traits;

pub use image::ImageRule;
pub use resolve::{find, nearest};
pub use table::{SOURCE, SOURCE_DATE};
pub use traits::Traits;

/// A model, as the provider that made it serves it, or as a gateway does that limits it further.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Model {
    /// The name that requests use, without a provider in front (`claude-opus-4-5`), except for a
    /// gateway with limits of its own (`github_copilot/claude-opus-5`). Unique.
    pub name: &'static str,
    /// Who serves it: `anthropic`, `openai`, `google`, … or the gateway.
    pub provider: &'static str,
    /// What it accepts as input, in tokens: where the provider keeps room for the answer, without it.
    pub input_window: u32,
    /// The longest answer, in tokens, where known.
    pub max_output: Option<u32>,
    /// What it costs, where the price is one number.
    pub prices: Option<Prices>,
    /// What follows from what it is rather than from who serves it.
    pub traits: Traits,
}

/// Prices in US dollars per million tokens, for prompts below any long-context surcharge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prices {
    /// Input that is not read from a cache.
    pub input: f64,
    /// Output, reasoning included.
    pub output: f64,
    /// Input read from a prompt cache, where there is one.
    pub cache_read: Option<f64>,
    /// Input written to a prompt cache that lives for minutes, where writing costs extra.
    pub cache_write: Option<f64>,
    /// Input written to a prompt cache that lives for an hour.
    pub cache_write_1h: Option<f64>,
}

/// How an edit of what was already sent may be made, since some models sign their reasoning over it.
///
/// A signed thinking block that stands after an edited result no longer fits what is before it; the
/// provider then rejects the request, unless told what to do instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RewriteRule {
    /// Nothing is bound: edit. OpenAI-style APIs, models without signed reasoning, histories without
    /// thinking blocks or with none after the first edit.
    #[default]
    Free,
    /// Edit, and tell the provider to drop the reasoning that no longer fits. The lost reasoning is a
    /// cost of the plan.
    Drop,
    /// Edit nothing; ask the provider for its own clearing and record what it reports.
    Delegate,
    /// Edit nothing that was sent; cap results that were not, and leave the rest to compaction.
    AppendOnly,
}

/// Whether a model's reasoning is bound to everything that stands before it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Binding {
    /// It is not, or only to itself.
    #[default]
    No,
    /// The signature covers the prefix, but nobody checks it: an edit does no harm today.
    SignsOnly,
    /// The signature covers the prefix and an edit makes a request fail, at least on some accounts.
    Checked,
}

impl Binding {
    /// The cheapest rule that cannot fail.
    pub fn rule(self) -> RewriteRule {
        match self {
            Binding::No | Binding::SignsOnly => RewriteRule::Free,
            Binding::Checked => RewriteRule::Drop,
        }
    }
}

/// All models of the table, by name.
pub fn all() -> &'static [Model] {
    table::MODELS
}

/// What is known of a model by its name alone: its row of the table, else what its family and version
/// say. A name of a known family without a version counts as its newest.
pub fn traits(name: &str) -> Traits {
    find(name).map_or_else(|| Traits::of(name), |model| model.traits)
}
