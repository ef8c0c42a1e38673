//! An agent on a terminal: what it says and does as lines, and the questions that it asks.
//! Deliberately two streams: the answer on stdout, everything else on stderr.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex, PoisonError};

use neenee_agent::AgentResponse;
use neenee_agent::orchestration::{Author, Compacted, ContextMeter, Sink, UsageSource};
use neenee_agent::provider::StreamEvent;
use neenee_agent::tool::{Approve, Boxed, Permission};
use tokio::sync::mpsc;

use crate::output;
use crate::render::number::{counted, grouped};
use crate::render::text::{line, plain};

/// Shows what happens. `dim` is for terminals that show faint text.
pub(crate) fn sink(dim: bool) -> Sink {
    let screen = Mutex::new(Screen { dim, open: false });
    Arc::new(move |response| {
        screen
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .show(&response, "");
    })
}

struct Screen {
    dim: bool,
    /// Text has been written without a line end.
    open: bool,
}

impl Screen {
    fn show(&mut self, response: &AgentResponse, indent: &str) {
        match response {
            AgentResponse::Stream(StreamEvent::Text(text)) if indent.is_empty() => {
                let mut stdout = io::stdout().lock();
                // Whoever has stopped reading the answer may still want the work done.
                let _ = stdout.write_all(plain(text).as_bytes());
                let _ = stdout.flush();
                self.open = !text.ends_with('\n');
            }
            AgentResponse::Answered { .. } if indent.is_empty() => self.close(),
            AgentResponse::CallFinished {
                label,
                failed,
                lines,
                took,
                ..
            } => {
                let mark = if *failed { "✗" } else { "✓" };
                let size = counted(*lines, "line");
                let ms = took.as_millis();
                self.note(&format!("{indent}{mark} {} ({size}, {ms} ms)", line(label)));
            }
            AgentResponse::Retrying {
                attempt,
                wait,
                error,
            } => {
                let seconds = wait.as_secs_f64();
                self.note(&format!(
                    "{indent}attempt {attempt} failed: {}; again in {seconds:.1} s",
                    line(&error.to_string())
                ));
            }
            AgentResponse::Context(context) if indent.is_empty() => self.note(&meter(context)),
            AgentResponse::Compacted(done) if indent.is_empty() => self.note(&compacted(done)),
            AgentResponse::Envoy { title, response } => {
                self.show(response, &format!("{indent}  {}: ", line(title)));
            }
            _ => {}
        }
    }

    /// Ends the line of text that was begun.
    fn close(&mut self) {
        if std::mem::take(&mut self.open) {
            let _ = writeln!(io::stdout().lock());
        }
    }

    fn note(&mut self, text: &str) {
        self.close();
        if self.dim {
            output::note(&format!("\u{1b}[2m{text}\u{1b}[0m"));
        } else {
            output::note(text);
        }
    }
}

/// `context 61% · 122k of 200k · pruned 48k`
pub(crate) fn meter(meter: &ContextMeter) -> String {
    let about = match meter.source {
        UsageSource::Reported => "",
        UsageSource::Estimated => "about ",
    };
    let mut text = format!(
        "context {}% · {about}{} of {}",
        meter.percent(),
        thousands(meter.used_tokens),
        thousands(meter.window_tokens)
    );
    if meter.pruned_tokens > 0 {
        text.push_str(&format!(" · pruned {}", thousands(meter.pruned_tokens)));
    }
    text
}

pub(crate) fn compacted(done: &Compacted) -> String {
    let author = match done.author {
        Author::Model => "the model",
        Author::Excerpt => "rule, since the model did not answer",
    };
    format!(
        "Compacted {} and {} into a summary by {author}: {} → {} tokens",
        counted(done.rounds, "round"),
        counted(done.turns, "turn"),
        grouped(done.tokens_before),
        grouped(done.tokens_after)
    )
}

fn thousands(tokens: usize) -> String {
    if tokens < 1_000 {
        tokens.to_string()
    } else {
        format!("{}k", (tokens + 500) / 1_000)
    }
}

/// Lines of stdin, for whoever asks next: a question of a tool, or the prompt.
pub(crate) struct Lines(tokio::sync::Mutex<mpsc::Receiver<String>>);

impl Lines {
    /// Begins to read. A line that nobody asked for waits.
    pub(crate) fn new() -> Arc<Self> {
        let (sender, receiver) = mpsc::channel(1);
        std::thread::spawn(move || {
            for line in io::stdin().lock().lines() {
                let Ok(line) = line else { break };
                if sender.blocking_send(line).is_err() {
                    break;
                }
            }
        });
        Arc::new(Lines(tokio::sync::Mutex::new(receiver)))
    }

    /// The next line; `None` at the end.
    pub(crate) async fn next(&self) -> Option<String> {
        self.0.lock().await.recv().await
    }
}

/// Asks on the terminal before files are written and commands run.
pub(crate) struct Ask {
    lines: Arc<Lines>,
    /// What was allowed once and for all: the kinds of questions.
    always: Mutex<Vec<&'static str>>,
}

impl Ask {
    pub(crate) fn new(lines: Arc<Lines>) -> Self {
        Ask {
            lines,
            always: Mutex::default(),
        }
    }
}

impl Approve for Ask {
    fn approve<'a>(&'a self, permission: &'a Permission) -> Boxed<'a, Result<(), String>> {
        Box::pin(async move {
            let (kind, question) = match permission {
                Permission::Write { path, preview } => (
                    "write",
                    format!("{}\nwrite {}?", plain(preview), line(path)),
                ),
                Permission::Command(command) => ("command", format!("run `{}`?", plain(command))),
                Permission::Other(what) => ("other", line(what)),
            };
            let always = || self.always.lock().unwrap_or_else(PoisonError::into_inner);
            if always().contains(&kind) {
                return Ok(());
            }
            if !io::stdin().is_terminal() {
                return Err("nobody is there to allow it; --yes would".to_owned());
            }
            output::note(&format!("{question} [y]es, [a]lways, [N]o"));
            match self.lines.next().await.as_deref().map(str::trim) {
                Some("y" | "yes") => Ok(()),
                Some("a" | "always") => {
                    always().push(kind);
                    Ok(())
                }
                _ => Err("the person said no".to_owned()),
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_meter_reads_as_documented() {
        let shown = meter(&ContextMeter {
            used_tokens: 122_000,
            window_tokens: 200_000,
            source: UsageSource::Reported,
            pruned_tokens: 48_200,
        });
        assert_eq!(shown, "context 61% · 122k of 200k · pruned 48k");
    }
}
