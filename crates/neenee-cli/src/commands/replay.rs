//! `neenee replay`: sessions in, what policies would have made of them out.
//! Deliberately no measure of its own; the numbers are `neenee-replay`'s and only shown here.

mod check;
mod files;
mod table;

use anyhow::{Context as _, Result};
use neenee_replay::report::{self, Page};
use neenee_replay::{Comparison, Corpus, Failed, Ground, Params, Session, Spec, compare, policy};
use neenee_wire::Document;

use crate::cli::ReplayArgs;
use crate::error::{self, AlreadyTold, Failure};
use crate::input::Input;
use crate::output;
use crate::progress::Progress;
use crate::settings::{Settings, nearest};
use crate::window::Window;
use crate::workers::{self, Event};

/// Sessions that a page shows one by one; the sums are of all.
const SHOWN_SESSIONS: usize = 12;

/// Misses that a page or JSON lists of each policy and session unless told otherwise.
const LISTED_MISSES: usize = 40;

/// What the oracle gives up for its frontier to be drawn, as fractions of what is needed.
const FRONTIER: &[&str] = &["0.01", "0.03", "0.1", "0.2", "0.3"];

pub(super) fn run(
    args: &ReplayArgs,
    mut settings: Settings,
    set: &[String],
    colour: bool,
) -> Result<()> {
    settings.window_flags(None, args.model.as_deref());
    let comparison = comparison(args, set)?;
    let inputs = files::all(&args.files)?;
    if let Some(page) = &args.html {
        output::refuse_inputs(page, inputs.iter().filter_map(|input| input.input.path()))?;
    }
    let tools = settings.tool_table()?;
    let ground = |document: &Document<'_>| -> Result<Ground> {
        let window = Window::resolve(&settings, document.model())?;
        Ok(Ground {
            window_tokens: window.budget.window_tokens,
            policy: settings.policy(),
            // A recording was accepted by its provider; what a rule would have forbidden is not replayed.
            options: settings.options(neenee_core::model::RewriteRule::Free)?,
            estimator: window.estimator(),
            tools: tools.clone(),
        })
    };
    let sizes: Vec<u64> = inputs.iter().map(|input| input.input.size()).collect();
    let mut progress = Progress::new(sizes.iter().sum(), args.quiet);
    let (mut done, mut failed) = (0, false);
    let mut sums: Vec<Corpus> = Vec::new();
    let mut shown = Vec::new();
    let work = |input: &files::Found| one(&input.input, &comparison, &ground);
    workers::in_order(&inputs, work, |event| {
        if let Event::Done(index, replayed) = event {
            done += sizes[index];
            let name = inputs[index].input.name();
            match replayed {
                Ok(session) => {
                    report::add(&mut sums, &session);
                    if args.json {
                        output::json(&report::session(&name, &session))?;
                    }
                    if shown.len() < SHOWN_SESSIONS {
                        shown.push((name, session));
                    }
                }
                // A folder holds what it holds; a file that was named is meant.
                Err(error) if inputs[index].named => {
                    failed = true;
                    progress.suspend(|| output::note(&error::tell(&error)));
                }
                Err(error) if !args.quiet => {
                    progress.suspend(|| output::note(&format!("skipped: {error:#}")));
                }
                Err(_) => {}
            }
        }
        progress.tick(done);
        Ok(())
    })?;
    progress.finish();
    show(args, &sums, &shown, colour)?;
    if failed {
        return Err(AlreadyTold.into());
    }
    match args.max_missed {
        Some(most) => check::hold(&sums, most),
        None => Ok(()),
    }
}

fn one(
    input: &Input,
    comparison: &Comparison,
    ground: &dyn Fn(&Document<'_>) -> Result<Ground>,
) -> Result<Session> {
    let bytes = input.load()?;
    let session = compare(&bytes, comparison, ground);
    session.map_err(|failed| match failed {
        Failed::Ground(error) => error,
        failed => anyhow::Error::new(failed).context(format!("failed to replay {}", input.name())),
    })
}

/// What is asked for. That policies and parameters exist is found out here, before any file is read.
fn comparison(args: &ReplayArgs, set: &[String]) -> Result<Comparison> {
    let params = Params::parse(set).context("failed to read --set")?;
    let known = || policy::ALL.iter().map(|entry| entry.name);
    let mut windows = args.window.clone();
    let specs: Vec<Spec> = match (&args.check, &args.compare[..]) {
        (Some(file), _) => {
            let (window, spec) = check::read(file)?;
            if windows.is_empty() {
                windows.extend(window);
            }
            vec![spec]
        }
        (None, []) => vec![Spec {
            policy: args.policy.clone(),
            params: params.clone(),
        }],
        (None, [all]) if all == "all" => known().map(Spec::plain).collect(),
        (None, names) => names.iter().map(|name| Spec::plain(name)).collect(),
    };
    for spec in &specs {
        if !known().any(|name| name == spec.policy) {
            let near = nearest(&spec.policy, known());
            let all: Vec<&str> = known().collect();
            let failure = Failure::new(format!("failed to find the policy `{}`", spec.policy));
            return Err(match near {
                Some(near) => failure.fix(format!("did you mean `{near}`?")),
                None => failure.fix(format!("there are {}", all.join(", "))),
            }
            .into());
        }
        policy::check(&spec.policy, &spec.params).context("failed to read --set")?;
    }
    if !args.compare.is_empty() && params.iter().next().is_some() {
        return Err(Failure::new(
            "failed to read --set: policies that are compared run with their defaults",
        )
        .fix("name one policy with --policy")
        .into());
    }
    let pictures = args.html.is_some() || args.svg.is_some();
    let mut specs = specs;
    if pictures && specs.iter().any(|spec| spec.policy == "oracle") {
        specs.extend(FRONTIER.iter().map(|forget| {
            let mut spec = Spec::plain("oracle");
            spec.params.set("forget", forget);
            spec
        }));
    }
    let listed = if args.json || pictures {
        LISTED_MISSES
    } else {
        0
    };
    Ok(Comparison {
        windows,
        specs,
        format: args.format,
        rows: pictures,
        misses: args.misses.unwrap_or(listed),
    })
}

fn show(
    args: &ReplayArgs,
    sums: &[Corpus],
    shown: &[(String, Session)],
    colour: bool,
) -> Result<()> {
    let page = Page {
        sums,
        sessions: shown,
    };
    if let Some(out) = &args.html {
        output::write_whole(out, report::html(&page).as_bytes())?;
    }
    if let Some(folder) = &args.svg {
        std::fs::create_dir_all(folder)
            .with_context(|| format!("failed to make the folder {}", folder.display()))?;
        for (name, svg) in report::svg(&page) {
            output::write_whole(&folder.join(name), svg.as_bytes())?;
        }
    }
    if args.json {
        return sums.iter().try_for_each(output::json);
    }
    let mut text = table::render(sums, colour);
    if args.misses.is_some() {
        text.push_str(&table::misses(shown));
    }
    output::stdout(text.as_bytes())
}
