//! `bash`: a command line, with a time limit and a cap on what is shown of its output.
//! Deliberately no shell session: each command starts in the project folder, and nothing reads from a terminal.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::{Child, Command};
use tokio::sync::mpsc;

use super::{Boxed, Context, Nature, Output, Permission, Tool, number, required, schema};
use crate::provider::ToolSchema;

/// Longest run that a model may ask for.
const LONGEST: Duration = Duration::from_secs(3_600);
/// How long output is waited for once the shell has ended: something that it left running may hold the pipe.
const GRACE: Duration = Duration::from_millis(250);
/// Beyond this the whole output is no longer kept either.
const MAX_SPILL_BYTES: u64 = 256 << 20;

/// Runs commands.
#[derive(Clone, Copy, Debug)]
pub struct Bash {
    /// The time that a command has unasked.
    pub timeout: Duration,
}

impl Default for Bash {
    fn default() -> Self {
        Bash {
            timeout: Duration::from_secs(120),
        }
    }
}

impl Tool for Bash {
    fn schema(&self) -> ToolSchema {
        schema(
            "bash",
            "Runs a command line with bash in the project folder. Output and errors come together. Long output is \
             cut in the middle; the whole of it is in a file that is named then.",
            &json!({
                "command": { "type": "string" },
                "timeout": { "type": "integer", "minimum": 1, "description": "Seconds; 120 unasked" },
            }),
            &["command"],
        )
    }

    fn nature(&self) -> Nature {
        Nature {
            mutates: true,
            ..Nature::default()
        }
    }

    fn asks(&self, arguments: &Value, _: &Context<'_>) -> Option<Permission> {
        let command = arguments["command"].as_str()?;
        Some(Permission::Command(command.to_owned()))
    }

    fn run<'a>(&'a self, arguments: &'a Value, context: &'a Context<'a>) -> Boxed<'a, Output> {
        Box::pin(async move {
            let command = match required(arguments, "command") {
                Ok(command) => command,
                Err(error) => return Err(error).into(),
            };
            let seconds = number(arguments, "timeout")
                .and_then(|seconds| u64::try_from(seconds).ok())
                .map_or(self.timeout, Duration::from_secs);
            match run(command, seconds.min(LONGEST), context).await {
                Ok(output) => output,
                Err(error) => Output::failed(format!("Error: cannot run the command: {error}")),
            }
        })
    }
}

/// How a command came to its end.
#[derive(Clone, Copy)]
enum End {
    Exited(std::process::ExitStatus),
    TimedOut,
    Cancelled,
}

async fn run(command: &str, timeout: Duration, context: &Context<'_>) -> std::io::Result<Output> {
    let (mut reader, writer) = std::io::pipe()?;
    let group = {
        let mut shell = Command::new("bash");
        shell
            .arg("-c")
            .arg(command)
            .current_dir(context.project.root())
            .stdin(Stdio::null())
            .stdout(writer.try_clone()?)
            .stderr(writer)
            .kill_on_drop(true);
        #[cfg(unix)]
        shell.process_group(0);
        Group(shell.spawn()?)
        // Our ends of the pipe close with `shell`, so that it ends with the last process that writes.
    };
    let mut group = group;
    // A pipe of both streams keeps their order; reading it blocks, hence the thread. It ends with the
    // pipe, or when nobody takes what it reads.
    let (sender, mut pieces) = mpsc::channel::<Vec<u8>>(16);
    std::thread::spawn(move || {
        let mut buffer = vec![0; 16 << 10];
        while let Ok(length) = reader.read(&mut buffer) {
            if length == 0 || sender.blocking_send(buffer[..length].to_vec()).is_err() {
                break;
            }
        }
    });
    let mut capture = Capture::new(context.max_chars, context.project.spill());
    let deadline = tokio::time::sleep(timeout);
    tokio::pin!(deadline);
    let mut open = true;
    let end = loop {
        tokio::select! {
            piece = pieces.recv(), if open => match piece {
                Some(piece) => capture.take(&piece),
                None => open = false,
            },
            status = group.0.wait() => break End::Exited(status?),
            () = &mut deadline => break End::TimedOut,
            () = context.cancel.cancelled() => break End::Cancelled,
        }
    };
    if !matches!(end, End::Exited(_)) {
        group.kill().await;
    }
    while let Ok(Some(piece)) = tokio::time::timeout(GRACE, pieces.recv()).await {
        capture.take(&piece);
    }
    Ok(answer(end, timeout, capture.finish()))
}

fn answer(end: End, timeout: Duration, mut text: String) -> Output {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match end {
        End::Exited(status) => {
            let code = code(status);
            if text.is_empty() {
                text.push_str("(no output)\n");
            }
            if code != 0 {
                text.push_str(&format!("Exit code: {code}"));
            }
            Output {
                text,
                failed: code != 0,
                exit_status: Some(code),
                children: Vec::new(),
            }
        }
        End::TimedOut => {
            let seconds = timeout.as_secs();
            text.push_str(&format!(
                "Error: stopped after {seconds} s, with everything it had started"
            ));
            Output {
                text,
                failed: true,
                exit_status: Some(124),
                children: Vec::new(),
            }
        }
        End::Cancelled => {
            text.push_str("Error: cancelled, with everything it had started");
            Output {
                text,
                failed: true,
                exit_status: Some(130),
                children: Vec::new(),
            }
        }
    }
}

fn code(status: std::process::ExitStatus) -> i32 {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt as _;
        // As shells tell it.
        status
            .code()
            .or_else(|| status.signal().map(|signal| 128 + signal))
            .unwrap_or(-1)
    }
    #[cfg(not(unix))]
    status.code().unwrap_or(-1)
}

/// A shell and what it started. Dropping it kills them all, so that a dropped future leaves nothing behind.
struct Group(Child);

impl Group {
    async fn kill(&mut self) {
        self.signal();
        // It has been killed; waiting only collects its status.
        let _ = self.0.kill().await;
    }

    fn signal(&self) {
        #[cfg(unix)]
        if let Some(pid) = self.0.id()
            && let Some(pid) = i32::try_from(pid)
                .ok()
                .and_then(rustix::process::Pid::from_raw)
        {
            // It may have ended by itself just now.
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // `id` is gone once its status was collected, so that no stranger is ever hit.
        self.signal();
    }
}

/// The output so far: its beginning, its end, and all of it in a file once that is not everything.
struct Capture {
    /// Bytes kept at either end.
    keep: usize,
    head: Vec<u8>,
    tail: Vec<u8>,
    total: u64,
    folder: PathBuf,
    spill: Option<(File, PathBuf)>,
}

impl Capture {
    fn new(max_chars: usize, folder: &Path) -> Self {
        Capture {
            keep: (max_chars / 2).max(200),
            head: Vec::new(),
            tail: Vec::new(),
            total: 0,
            folder: folder.to_owned(),
            spill: None,
        }
    }

    fn take(&mut self, piece: &[u8]) {
        let whole_fits = self.total + piece.len() as u64 <= 2 * self.keep as u64;
        if !whole_fits && self.spill.is_none() {
            self.begin_spill();
        }
        self.total += piece.len() as u64;
        if let Some((file, _)) = &mut self.spill
            && self.total <= MAX_SPILL_BYTES
        {
            // A full disk must not fail the command.
            let _ = file.write_all(piece);
        }
        let room = self.keep.saturating_sub(self.head.len()).min(piece.len());
        self.head.extend_from_slice(&piece[..room]);
        self.tail.extend_from_slice(&piece[room..]);
        if self.tail.len() > 4 * self.keep {
            self.tail.drain(..self.tail.len() - self.keep);
        }
    }

    fn begin_spill(&mut self) {
        let file = tempfile::Builder::new()
            .prefix("output-")
            .suffix(".txt")
            .tempfile_in(&self.folder)
            .and_then(|file| file.keep().map_err(|error| error.error));
        if let Ok((mut file, path)) = file {
            let kept = file
                .write_all(&self.head)
                .and_then(|()| file.write_all(&self.tail));
            if kept.is_ok() {
                self.spill = Some((file, path));
            }
        }
    }

    fn finish(mut self) -> String {
        if self.total <= 2 * self.keep as u64 {
            self.head.extend_from_slice(&self.tail);
            return String::from_utf8_lossy(&self.head).into_owned();
        }
        let tail = &self.tail[self.tail.len().saturating_sub(self.keep)..];
        // Whole lines read better than halves of them.
        let tail = match tail.iter().position(|&byte| byte == b'\n') {
            Some(end) if end < tail.len() / 2 => &tail[end + 1..],
            _ => tail,
        };
        let head = match self.head.iter().rposition(|&byte| byte == b'\n') {
            Some(end) if end > self.head.len() / 2 => &self.head[..end],
            _ => &self.head,
        };
        let whole = match &self.spill {
            Some((_, path)) => format!("the whole of it is in {}", path.display()),
            None => "the rest is lost".to_owned(),
        };
        format!(
            "{}\n[output truncated: {} bytes in all, {whole}]\n{}",
            String::from_utf8_lossy(head),
            self.total,
            String::from_utf8_lossy(tail)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tool::Project;
    use tokio_util::sync::CancellationToken;

    async fn bash(
        command: &str,
        seconds: u64,
        max_chars: usize,
        cancel: &CancellationToken,
    ) -> Output {
        let bed = tempfile::tempdir().unwrap();
        let project = Project::new(bed.path(), bed.path()).unwrap();
        let context = Context {
            project: &project,
            cancel,
            max_chars,
            spawn: None,
        };
        let arguments = json!({ "command": command, "timeout": seconds });
        let output = Bash::default().run(&arguments, &context).await;
        if output.text.contains("output truncated") {
            let path = output.text.split("is in ").nth(1).unwrap();
            let path = path.split(']').next().unwrap();
            let whole = std::fs::read_to_string(path).unwrap();
            assert_eq!(
                whole,
                (1..=3_000).map(|n| format!("{n}\n")).collect::<String>()
            );
        }
        output
    }

    #[tokio::test]
    async fn output_errors_and_status_come_together() {
        let cancel = CancellationToken::new();
        let output = bash("echo a; echo b >&2; echo c; exit 3", 9, 1_000, &cancel).await;
        assert_eq!(output.text, "a\nb\nc\nExit code: 3");
        assert_eq!((output.failed, output.exit_status), (true, Some(3)));
        let output = bash("true", 9, 1_000, &cancel).await;
        assert_eq!(
            (output.text.as_str(), output.failed),
            ("(no output)\n", false)
        );
    }

    #[tokio::test]
    async fn long_output_is_cut_and_kept_whole_in_a_file() {
        let cancel = CancellationToken::new();
        let output = bash("seq 3000", 9, 1_000, &cancel).await;
        assert!(output.text.starts_with("1\n2\n") && output.text.ends_with("2999\n3000\n"));
        assert!(output.text.len() < 1_400, "{}", output.text.len());
    }

    #[tokio::test]
    async fn time_and_cancellation_end_all_that_it_started() {
        let marker = format!("{}.5", 100_000 + std::process::id());
        let alive = |marker: &str| {
            std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
                let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let words: Vec<&[u8]> = line.split(|byte| *byte == 0).collect();
                words.starts_with(&[b"sleep".as_slice(), marker.as_bytes()])
            })
        };
        let cancel = CancellationToken::new();
        let output = bash(
            &format!("sleep {marker} & sleep {marker}"),
            1,
            1_000,
            &cancel,
        )
        .await;
        assert_eq!(output.exit_status, Some(124));
        assert!(!alive(&marker));
        let later = cancel.clone();
        tokio::spawn(async move {
            tokio::time::sleep(Duration::from_millis(200)).await;
            later.cancel();
        });
        let output = bash(&format!("sleep {marker} | cat"), 60, 1_000, &cancel).await;
        assert_eq!(output.exit_status, Some(130));
        assert!(!alive(&marker));
    }

    #[tokio::test]
    async fn what_is_left_running_does_not_hold_the_answer_back() {
        let cancel = CancellationToken::new();
        let begun = std::time::Instant::now();
        let output = bash("sleep 5 & echo started", 60, 1_000, &cancel).await;
        assert_eq!(output.text, "started\n");
        assert!(begun.elapsed() < Duration::from_secs(3));
    }
}
