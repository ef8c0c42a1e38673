//! `neenee prune`: sessions in, projections out, each file on its own.
//! Deliberately no decisions about results; the plan is the core's and only shown here.

mod keep;
mod project;
mod report;
mod summary;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};

use crate::cli::PruneArgs;
use crate::error::{self, AlreadyTold, Failure};
use crate::input::Input;
use crate::output;
use crate::progress::Progress;
use crate::settings::{Key, Origin, Settings, Value};
use crate::store;
use crate::workers::{self, Event};
use keep::Keeper;
use project::{Projection, Request, project};

pub(super) fn run(args: &PruneArgs, settings: Settings, colour: bool) -> Result<()> {
    let settings = with_flags(settings, args);
    let jobs = jobs(args)?;
    let request = Request {
        settings: &settings,
        tools: settings.tool_table()?,
        format: args.format,
        now: args.now,
        rows: args.explain || args.json,
    };
    let keeper = keeper(args, &settings)?;
    let many = jobs.len() > 1;
    let sizes: Vec<u64> = jobs.iter().map(|job| job.input.size()).collect();
    let mut progress = Progress::new(sizes.iter().sum(), args.quiet);
    let (mut done, mut failed) = (0, false);
    let work = |job: &Job| job.run(args, &request, keeper.as_ref(), many, colour);
    workers::in_order(&jobs, work, |event| {
        if let Event::Done(index, told) = event {
            done += sizes[index];
            match told {
                Ok(told) => {
                    progress.suspend(|| told.notes.iter().for_each(|note| output::note(note)));
                    output::stdout(&told.stdout)?;
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
    if failed {
        Err(AlreadyTold.into())
    } else {
        Ok(())
    }
}

/// One file.
struct Job {
    input: Input,
    target: Target,
}

/// Where a projection goes.
enum Target {
    Nowhere,
    Stdout,
    File(PathBuf),
    InPlace(PathBuf),
}

/// What is said about one file once it is done.
struct Told {
    notes: Vec<String>,
    stdout: Vec<u8>,
}

impl Job {
    fn run(
        &self,
        args: &PruneArgs,
        request: &Request<'_>,
        keeper: Option<&Keeper>,
        many: bool,
        colour: bool,
    ) -> Result<Told> {
        let bytes = self.input.load()?;
        let name = self.input.name();
        let Projection {
            bytes: pruned,
            report,
        } = project(&bytes, &name, request)?;
        let mut kept = None;
        if let (Some(keeper), Some(pruned)) = (keeper, &pruned) {
            kept = Some(match &self.target {
                Target::InPlace(path) => keeper.replace(path, &bytes, pruned, &report)?,
                _ => keeper.keep(self.input.path(), &bytes, pruned, &report)?,
            });
        }
        // Below the gate the projection is the input, so that pipes go on.
        let result = pruned.unwrap_or(bytes);
        let mut stdout = Vec::new();
        if args.json {
            stdout = report::json(&report, &name)?;
        } else if args.explain {
            stdout = report::explain(&report, &name, many, colour).into_bytes();
        }
        match &self.target {
            Target::Nowhere | Target::InPlace(_) => {}
            Target::Stdout => stdout = result,
            Target::File(path) => {
                if args.out_dir.is_some() {
                    make_folder(path)?;
                }
                output::write_whole(path, &result)?;
            }
        }
        let notes = if args.quiet {
            Vec::new()
        } else {
            let mut notes = summary::notes(&report, many.then_some(name.as_str()));
            notes.extend(kept.map(|session| {
                format!("the original is in session {session}; `neenee restore` gives it back")
            }));
            notes
        };
        Ok(Told { notes, stdout })
    }
}

/// What is asked of `prune` by flags, as the last layer of the settings.
fn with_flags(mut settings: Settings, args: &PruneArgs) -> Settings {
    if let Some(tokens) = args.protect_tokens {
        let origin = Origin::Flag("--protect-tokens");
        settings.set(Key::ProtectTokens, Value::Count(tokens), origin);
    }
    settings.window_flags(args.window, args.model.as_deref());
    settings
}

/// The store, when originals are to be kept.
fn keeper(args: &PruneArgs, settings: &Settings) -> Result<Option<Keeper>> {
    if !args.in_place && args.session.is_none() {
        return Ok(None);
    }
    if args.session.is_some() && args.files.len() > 1 {
        return Err(Failure::new(format!(
            "failed to choose a session: {} files, and one session",
            args.files.len()
        ))
        .fix("prune them one by one, or without --session: each then gets the session of its path")
        .into());
    }
    Ok(Some(Keeper {
        store: store::open(settings)?,
        session: args.session.clone(),
    }))
}

/// Pairs inputs with targets. Everything that can be refused is refused here, before any work.
fn jobs(args: &PruneArgs) -> Result<Vec<Job>> {
    let inputs = Input::all(&args.files)?;
    let shown = args.explain || args.json;
    if inputs.len() > 1
        && !args.in_place
        && args.out_dir.is_none()
        && !(shown && args.output.is_none())
    {
        return Err(Failure::new(format!(
            "failed to choose an output: {} files, and one place for their results",
            inputs.len()
        ))
        .fix("name a folder for them with --out-dir DIR")
        .into());
    }
    let mut jobs = Vec::new();
    let mut taken: BTreeMap<PathBuf, String> = BTreeMap::new();
    for input in &inputs {
        let target = match (&args.output, &args.out_dir, input.path()) {
            (_, _, Some(path)) if args.in_place => Target::InPlace(path.to_owned()),
            (_, _, None) if args.in_place => {
                return Err(Failure::new(
                    "failed to prune in place: stdin is no file that could be replaced",
                )
                .fix("name the file")
                .into());
            }
            (Some(output), _, _) if output.as_os_str() == "-" && shown => {
                return Err(Failure::new(
                    "failed to choose an output: stdout is taken by --explain or --json",
                )
                .fix("name a file with -o FILE")
                .into());
            }
            (Some(output), _, _) if output.as_os_str() == "-" => Target::Stdout,
            (Some(output), _, _) => Target::File(output.clone()),
            (None, Some(folder), Some(path)) => Target::File(output::in_folder(folder, path)?),
            (None, Some(_), None) => {
                return Err(Failure::new(
                    "failed to choose an output: stdin has no name to be stored under",
                )
                .fix("name the output with -o FILE")
                .into());
            }
            (None, None, _) if shown => Target::Nowhere,
            (None, None, _) => Target::Stdout,
        };
        if let Target::File(path) = &target {
            refuse(path, &inputs)?;
            if let Some(first) = taken.insert(path.clone(), input.name()) {
                return Err(Failure::new(format!(
                    "failed to choose an output: {first} and {} would both be {}",
                    input.name(),
                    path.display()
                ))
                .fix("prune them into different folders")
                .into());
            }
        }
        jobs.push(Job {
            input: input.clone(),
            target,
        });
    }
    Ok(jobs)
}

fn refuse(output: &Path, inputs: &[Input]) -> Result<()> {
    if output.is_dir() {
        return Err(Failure::new(format!(
            "failed to write {}: expected a file, found a folder",
            output.display()
        ))
        .fix("name a file in it, or the folder with --out-dir")
        .into());
    }
    output::refuse_inputs(output, inputs.iter().filter_map(Input::path))
}

fn make_folder(path: &Path) -> Result<()> {
    let Some(folder) = path.parent() else {
        return Ok(());
    };
    fs::create_dir_all(folder)
        .with_context(|| format!("failed to make the folder {}", folder.display()))
}
