//! Which model a session is for, and so which window, tokenizer and rewrite rule.
//! Deliberately no guess: what is assumed for want of knowledge is said.

use anyhow::Result;
use neenee_core::estimate::Estimator;
use neenee_core::model::{self, RewriteRule, Traits};
use neenee_core::pressure::ContextBudget;

use crate::error::Failure;
use crate::render::number::grouped;
use crate::settings::{Key, Settings};

/// The window that a session is measured against.
#[derive(Clone, Debug)]
pub(crate) struct Window {
    /// The model's name: that of its row, else as it was named.
    pub(crate) model: Option<String>,
    /// What its name tells.
    pub(crate) traits: Traits,
    /// Thresholds in tokens.
    pub(crate) budget: ContextBudget,
    /// Where the window came from.
    pub(crate) source: WindowSource,
}

/// Where a window came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WindowSource {
    /// A flag or the configuration says how large it is.
    Setting,
    /// A flag or the configuration names the model.
    SettingModel,
    /// The session names the model.
    Session,
    /// Nobody knows.
    Fallback,
}

impl Window {
    /// The window that is set, else that of the model that is set, else that of the model that the
    /// session names, else the fallback.
    ///
    /// # Errors
    /// When a model is set that is not known, and no window is.
    pub(crate) fn resolve(settings: &Settings, session_model: Option<&str>) -> Result<Window> {
        let set = settings.window();
        let name = settings.model().or(session_model);
        let row = name.and_then(model::find);
        if let (Some(name), None, None) = (settings.model(), row, set) {
            return Err(unknown(name, &settings.get(Key::Model).origin.to_string()));
        }
        let source = match (set, row) {
            (Some(_), _) => WindowSource::Setting,
            (None, Some(_)) if settings.model().is_some() => WindowSource::SettingModel,
            (None, Some(_)) => WindowSource::Session,
            (None, None) => WindowSource::Fallback,
        };
        let tokens = set.or(row.map(|row| row.input_window as usize));
        Ok(Window {
            model: row
                .map(|row| row.name.to_owned())
                .or_else(|| name.map(str::to_owned)),
            traits: name.map_or_else(|| Traits::of(""), model::traits),
            budget: settings.policy().budget(tokens),
            source,
        })
    }

    /// How tokens are counted.
    pub(crate) fn estimator(&self) -> Estimator {
        Estimator::new(self.traits.family).with_factor(self.traits.token_factor)
    }

    /// The rule that the model asks for.
    pub(crate) fn rule(&self) -> RewriteRule {
        self.traits.rewrite()
    }

    /// What had to be assumed; `None` when nothing had.
    pub(crate) fn assumption(&self) -> Option<String> {
        if self.source != WindowSource::Fallback {
            return None;
        }
        let why = match &self.model {
            Some(model) => format!("the model `{model}` is not known"),
            None => "the session names no model".to_owned(),
        };
        Some(format!(
            "{why}: a window of {} tokens is assumed; --model NAME or --window N sets it",
            grouped(self.budget.window_tokens)
        ))
    }
}

impl WindowSource {
    /// A stable name for programs.
    pub(crate) fn name(self) -> &'static str {
        match self {
            WindowSource::Setting => "window-setting",
            WindowSource::SettingModel => "model-setting",
            WindowSource::Session => "session",
            WindowSource::Fallback => "fallback",
        }
    }
}

/// The error for a name that is no model's.
pub(crate) fn unknown(name: &str, origin: &str) -> anyhow::Error {
    let near: Vec<String> = model::nearest(name)
        .iter()
        .map(|model| format!("`{}`", model.name))
        .collect();
    let fix = match &near[..] {
        [] => "`neenee models` lists those that are known; --window N sets the window of any other"
            .to_owned(),
        near => format!(
            "did you mean {}? --window N sets the window of a model that is not known",
            near.join(" or ")
        ),
    };
    Failure::new(format!("failed to find the model `{name}` of {origin}"))
        .fix(fix)
        .into()
}
