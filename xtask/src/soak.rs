//! `cargo xtask soak`: a child process commits, is killed at a random moment, and what it left is
//! compared with what it said, again and again.
//! Deliberately with real processes and a real database; nothing here pretends to fail.

mod child;
mod judge;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};
use neenee_core::message::Message;
use neenee_store::SessionStore;
use neenee_store::location::Location;

use judge::{Run, Tally};

/// Kill a process that commits to a session store, and prove that nothing was lost.
#[derive(clap::Args)]
pub(crate) struct Args {
    /// How often to kill.
    #[arg(long, default_value_t = 200)]
    kills: usize,
    /// Where the sessions go: a folder or `postgres://…`; without it, a temporary folder, a new one
    /// every 100 kills.
    #[arg(long)]
    store: Option<String>,
    /// Where the random numbers start.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Commit until killed: what the child does.
    #[arg(long, hide = true)]
    child: bool,
}

/// Kills on one temporary folder. Long enough that old sessions are found whole after many crashes.
const KILLS_PER_FOLDER: usize = 100;

/// The child is killed within this after its first commit: about 30 commits.
const LIFETIME: Duration = Duration::from_millis(60);

/// A child that has said nothing for this long has hung.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    if args.child {
        let place = args.store.as_deref().context("a child needs --store")?;
        return child::run(&Location::parse(place), args.seed);
    }
    let began = Instant::now();
    let mut tally = Tally::default();
    let mut folder = None;
    for kill in 0..args.kills {
        let place = match &args.store {
            Some(place) => place.clone(),
            None => {
                if kill % KILLS_PER_FOLDER == 0 {
                    folder = Some(tempfile::tempdir().context("failed to make a folder")?);
                }
                let folder = folder.as_ref().context("no folder")?;
                folder.path().display().to_string()
            }
        };
        let seed = args.seed.wrapping_mul(1_000_003).wrapping_add(kill as u64);
        let run = crash(&place, seed)?;
        let location = Location::parse(&place);
        let store = SessionStore::open(&location)
            .with_context(|| format!("kill {kill}: the store does not open any more"))?;
        judge::judge(&store, &location, &run, seed, &mut tally)
            .with_context(|| format!("kill {kill} (seed {seed}, store {location})"))?;
        if (kill + 1) % 100 == 0 {
            eprintln!("{} kills: {tally}", kill + 1);
        }
    }
    println!(
        "{} kills in {} s, nothing lost: {tally}",
        args.kills,
        began.elapsed().as_secs()
    );
    Ok(())
}

/// Starts a child, kills it at a moment that depends on `seed`, and returns what it said until then.
fn crash(place: &str, seed: u64) -> anyhow::Result<Run> {
    let program = std::env::current_exe().context("failed to find this program")?;
    let mut child = Command::new(program)
        .args(["soak", "--child", "--store", place, "--seed"])
        .arg(seed.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .context("failed to start a child")?;
    let output = child.stdout.take().context("the child has no stdout")?;
    let (said, hears) = mpsc::channel();
    let reader = std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            // The other side has gone when the child is being given up.
            if said.send(line).is_err() {
                break;
            }
        }
    });
    let outcome = listen(&mut child, &hears, seed);
    let _ = child.kill();
    let status = child.wait().context("failed to wait for the child")?;
    let _ = reader.join();
    let mut run = outcome?;
    for line in hears.try_iter() {
        run.hear(&line)?;
    }
    if status.success() {
        bail!("the child ended by itself");
    }
    Ok(run)
}

/// Waits for the first commit, then for a moment.
fn listen(child: &mut Child, hears: &mpsc::Receiver<String>, seed: u64) -> anyhow::Result<Run> {
    let mut run = Run::default();
    let Ok(first) = hears.recv_timeout(PATIENCE) else {
        bail!("the child committed nothing");
    };
    run.hear(&first)?;
    let fraction = random(seed) % 1_000;
    std::thread::sleep(LIFETIME * u32::try_from(fraction).unwrap_or(0) / 1_000);
    child.kill().context("failed to kill the child")?;
    Ok(run)
}

/// A number that looks random and is the same for the same seed (splitmix64's finaliser).
fn random(seed: u64) -> u64 {
    let mut x = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// What tells one list of messages from another.
fn fingerprint(messages: &[Message]) -> String {
    let mut hasher = blake3::Hasher::new();
    for message in messages {
        hasher.update(format!("{message:?}\n").as_bytes());
    }
    hasher.finalize().to_hex()[..32].to_owned()
}
