//! What fills a window: a survey of one conversation, and its renderings.
//! Deliberately no reading of files and no flags; `commands/inspect.rs` has those.

pub(crate) mod chart;
pub(crate) mod html;
pub(crate) mod json;
pub(crate) mod survey;
pub(crate) mod text;
pub(crate) mod treemap;
