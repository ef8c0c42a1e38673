//! What is known of models: windows, prices, tokenizers, and what editing their history costs.
//! Deliberately not a client of any provider: facts in a table, no requests.

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
