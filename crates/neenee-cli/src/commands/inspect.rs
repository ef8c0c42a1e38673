//! `neenee inspect`: sessions in, a survey of each out.
//! Deliberately changes nothing, and works nothing out that the planner does not say.

use anyhow::{Context as _, Result};
use neenee_core::pressure::Setup;
use neenee_core::touch::ToolTable;
use neenee_wire::Format;

use crate::cli::InspectArgs;
use crate::error::{self, AlreadyTold};
use crate::input::Input;
use crate::inspect::survey::{Survey, survey};
use crate::inspect::text::Heading;
use crate::inspect::{html, json, text};
use crate::output;
use crate::progress::Progress;
use crate::settings::Settings;
use crate::window::{Window, WindowSource};
use crate::workers::{self, Event};

pub(super) fn run(args: &InspectArgs, mut settings: Settings, colour: bool) -> Result<()> {
    settings.window_flags(args.window, args.model.as_deref());
    let inputs = Input::all(&args.files)?;
    if let Some(page) = &args.html {
        output::refuse_inputs(page, inputs.iter().filter_map(Input::path))?;
    }
    let tools = settings.tool_table()?;
    let sizes: Vec<u64> = inputs.iter().map(Input::size).collect();
    let mut progress = Progress::new(sizes.iter().sum(), false);
    let (mut done, mut failed) = (0, false);
    let mut pages = Vec::new();
    let work = |input: &Input| look(input, &settings, &tools, args.format);
    workers::in_order(&inputs, work, |event| {
        if let Event::Done(index, found) = event {
            done += sizes[index];
            match found {
                Ok(found) => {
                    show(args, &found, colour)?;
                    if args.html.is_some() {
                        pages.push(found);
                    }
                }
                Err(error) => {
                    failed = true;
                    progress.suspend(|| output::note(&error::tell(&error)));
                }
            }
        }
        progress.tick(done);
        Ok(())
    })?;
    progress.finish();
    if let Some(page) = args.html.as_ref().filter(|_| !pages.is_empty()) {
        let surveys: Vec<_> = pages
            .iter()
            .map(|found| (found.heading(args.top, false), &found.survey))
            .collect();
        output::write_whole(page, html::render(&surveys).as_bytes())?;
    }
    if failed {
        Err(AlreadyTold.into())
    } else {
        Ok(())
    }
}

/// One file and what fills its window.
struct Found {
    file: String,
    format: Format,
    window: Window,
    outside: Vec<(String, usize, usize)>,
    warnings: Vec<String>,
    survey: Survey,
}

impl Found {
    fn heading(&self, top: usize, colour: bool) -> Heading<'_> {
        Heading {
            file: &self.file,
            format: self.format.name(),
            model: self.window.model.as_deref(),
            window_from: match self.window.source {
                WindowSource::Setting => "window as set",
                WindowSource::SettingModel => "window of the model that is set",
                WindowSource::Session => "window of the session's model",
                WindowSource::Fallback => "window assumed; --model NAME or --window N sets it",
            },
            outside: &self.outside,
            top,
            colour,
        }
    }
}

fn look(
    input: &Input,
    settings: &Settings,
    tools: &ToolTable,
    format: Option<Format>,
) -> Result<Found> {
    let file = input.name();
    let bytes = input.load()?;
    let document =
        neenee_wire::read(&bytes, format).with_context(|| format!("failed to read {file}"))?;
    let window = Window::resolve(settings, document.model())?;
    let setup = Setup {
        tools: tools.clone(),
        options: settings.options(window.rule())?,
        estimator: window.estimator(),
    };
    let outside = document.outside().iter();
    Ok(Found {
        format: document.format(),
        outside: outside
            .map(|outside| (outside.what.to_owned(), outside.count, outside.bytes))
            .collect(),
        warnings: document
            .warnings()
            .iter()
            .map(ToString::to_string)
            .collect(),
        survey: survey(document.views(), setup, window.budget),
        file,
        window,
    })
}

fn show(args: &InspectArgs, found: &Found, colour: bool) -> Result<()> {
    for warning in &found.warnings {
        output::note(&format!("{}: {warning}", found.file));
    }
    let heading = found.heading(args.top, colour);
    if args.json {
        let mut line = serde_json::to_vec(&json::render(&heading, &found.survey))
            .context("failed to write JSON")?;
        line.push(b'\n');
        return output::stdout(&line);
    }
    if args.html.is_some() {
        return Ok(());
    }
    let separator = if args.files.len() > 1 { "\n" } else { "" };
    let text = text::render(&heading, &found.survey);
    output::stdout(format!("{text}{separator}").as_bytes())
}
