//! The proxy as a user runs it: served, reloaded, stopped, and with an agent of its own.
//! Deliberately with a shell script as the agent; real ones are driven in the proxy's own tests.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

use neenee_testkit::upstream::{Script, Turn, Upstream};

use crate::Bed;

const CHAT: &str = r#"{"model":"gpt-5","messages":[{"role":"user","content":"hi"}]}"#;

/// An upstream that says that it is done, on a runtime of its own.
struct Provider {
    upstream: Upstream,
    _runtime: tokio::runtime::Runtime,
}

impl Provider {
    fn start() -> Provider {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap();
        let script = Script::new("/").round("", vec![Turn::say("All done.")]);
        let upstream = runtime.block_on(Upstream::start(script)).unwrap();
        Provider {
            upstream,
            _runtime: runtime,
        }
    }
}

/// A proxy that serves; killed when dropped.
struct Serving {
    child: Child,
    address: String,
    greeting: String,
}

impl Drop for Serving {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Serving {
    fn start(bed: &Bed, args: &[&str]) -> Serving {
        let mut child = Command::new(assert_cmd::cargo::cargo_bin("neenee"))
            .current_dir(bed.path(""))
            .env_clear()
            .env("HOME", bed.path(""))
            .env("XDG_CONFIG_HOME", bed.path("config"))
            .arg("proxy")
            .args(args)
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        let mut greeting = String::new();
        while !greeting.ends_with("\n\n") || greeting.lines().count() < 4 {
            assert!(reader.read_line(&mut greeting).unwrap() > 0, "{greeting}");
        }
        let address = greeting
            .split("http://")
            .nth(1)
            .and_then(|rest| rest.split(',').next())
            .unwrap()
            .to_owned();
        Serving {
            child,
            address,
            greeting,
        }
    }

    fn signal(&self, name: &str) {
        let pid = self.child.id().to_string();
        let sent = Command::new("kill").args([name, &pid]).status().unwrap();
        assert!(sent.success());
    }

    fn ask(&self, request: &str) -> String {
        ask(&self.address, request)
    }
}

fn ask(address: &str, request: &str) -> String {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

fn chat() -> String {
    format!(
        "POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{CHAT}",
        CHAT.len()
    )
}

fn get(path: &str) -> String {
    format!("GET {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n")
}

#[test]
fn it_serves_tells_how_to_get_there_and_ends_cleanly() {
    let (bed, provider) = (Bed::new(), Provider::start());
    let upstream = format!("openai={}/v1", provider.upstream.url());
    let args = [
        "--listen",
        "127.0.0.1:0",
        "--upstream",
        &upstream,
        "--archive",
        "kept",
    ];
    let mut serving = Serving::start(&bed, &args);
    let url = format!("http://{}", serving.address);
    for line in [
        format!("ANTHROPIC_BASE_URL={url} claude"),
        format!("GOOGLE_GEMINI_BASE_URL={url} gemini"),
        format!("{url}/v1"),
        format!("page at {url}/_neenee/"),
    ] {
        assert!(serving.greeting.contains(&line), "{}", serving.greeting);
    }
    assert!(serving.ask(&chat()).contains("All done."));
    assert_eq!(provider.upstream.requests()[0].body, CHAT.as_bytes());
    assert!(serving.ask(&get("/_neenee/health")).contains("\"ok\""));
    assert!(bed.path("kept/archive-000.log").exists());
    serving.signal("-TERM");
    assert!(serving.child.wait().unwrap().success());
    let mut said = String::new();
    serving
        .child
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(said.contains("stopping"), "{said}");
}

#[test]
fn a_hangup_reads_the_configuration_again() {
    let (bed, first, second) = (Bed::new(), Provider::start(), Provider::start());
    let file = |provider: &Provider| {
        let url = provider.upstream.url();
        let text = format!("[proxy]\nlisten = \"127.0.0.1:0\"\nupstreams = [\"openai={url}\"]\n");
        bed.write("config/neenee/config.toml", text);
    };
    file(&first);
    let mut serving = Serving::start(&bed, &[]);
    serving.ask(&chat());
    file(&second);
    serving.signal("-HUP");
    let mut said = BufReader::new(serving.child.stderr.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    assert_eq!(line, "the configuration was read again\n");
    serving.ask(&chat());
    assert_eq!(first.upstream.requests().len(), 1);
    assert_eq!(second.upstream.requests().len(), 1);
    // A mistake is told, and what was is kept.
    bed.write("config/neenee/config.toml", "[proxy]\nupstreams = 7\n");
    serving.signal("-HUP");
    line.clear();
    said.read_line(&mut line).unwrap();
    assert!(
        line.starts_with("error: ") && line.contains("proxy.upstreams"),
        "{line}"
    );
    serving.ask(&chat());
    assert_eq!(second.upstream.requests().len(), 2);
}

#[test]
fn an_agent_is_started_with_its_variables_and_ends_as_it_ends() {
    let bed = Bed::new();
    let script =
        "echo $ANTHROPIC_BASE_URL $OPENAI_BASE_URL $GOOGLE_GEMINI_BASE_URL $NO_PROXY; exit 7";
    let (out, err) = bed.run(&["proxy", "run", "--", "sh", "-c", script], 7);
    assert_eq!(err, "");
    let words: Vec<&str> = out.split_whitespace().collect();
    let url = words[0];
    assert!(url.starts_with("http://127.0.0.1:"), "{out}");
    assert_eq!(
        words,
        [url, &format!("{url}/v1"), url, "127.0.0.1,localhost"]
    );
    // Codex has no variable, but takes settings as arguments.
    let codex = bed.write("codex", "#!/bin/sh\necho \"$@\"\n");
    let executable = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(&codex, executable).unwrap();
    let codex = codex.to_str().unwrap();
    let (out, _) = bed.run(&["proxy", "run", "--", codex, "exec", "hi"], 0);
    let start = "-c model_provider=\"neenee\" -c model_providers.neenee={";
    assert!(out.starts_with(start), "{out}");
    assert!(out.contains("base_url=\"http://127.0.0.1:"), "{out}");
    assert!(out.ends_with("} exec hi\n"), "{out}");
    bed.run(&["proxy", "run", "--", "sh", "-c", "exit 0"], 0);
    bed.run(
        &["proxy", "run", "--", "sh", "-c", "kill -TERM $$"],
        128 + 15,
    );
    let (_, err) = bed.run(&["proxy", "run", "--", "no-such-agent"], 2);
    assert!(err.contains("failed to start no-such-agent"), "{err}");
}

#[test]
fn where_an_agent_was_pointed_before_is_where_its_requests_go() {
    let (bed, provider) = (Bed::new(), Provider::start());
    let mut child = Command::new(assert_cmd::cargo::cargo_bin("neenee"))
        .current_dir(bed.path(""))
        .env_clear()
        .env("HOME", bed.path(""))
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("OPENAI_BASE_URL", format!("{}/v1", provider.upstream.url()))
        .args([
            "proxy",
            "run",
            "--",
            "sh",
            "-c",
            "echo $OPENAI_BASE_URL; read end",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap())
        .read_line(&mut line)
        .unwrap();
    let address = line
        .trim()
        .trim_start_matches("http://")
        .trim_end_matches("/v1")
        .to_owned();
    assert!(ask(&address, &chat()).contains("All done."));
    assert_eq!(provider.upstream.requests().len(), 1);
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(child.wait().unwrap().success());
}

#[test]
fn a_project_does_not_say_where_keys_are_sent() {
    let bed = Bed::new();
    for line in [
        "upstreams = [\"anthropic=https://evil.example\"]",
        "listen = \"0.0.0.0:0\"",
        "archive = \"here\"",
    ] {
        bed.write("neenee.toml", format!("[proxy]\n{line}\n"));
        for args in [
            &["proxy"][..],
            &["proxy", "run", "--", "sh", "-c", "exit 0"],
        ] {
            if args.len() > 1 && line.starts_with("listen") {
                // It takes a port of its own.
                continue;
            }
            let (_, err) = bed.run(args, 2);
            assert!(
                err.contains("a project may not say"),
                "{args:?} {line}: {err}"
            );
        }
    }
    bed.write("neenee.toml", "window = 1000\ncache_aware = false\n");
    bed.run(&["proxy", "run", "--", "sh", "-c", "exit 0"], 0);
}

#[test]
fn mistakes_are_told_with_what_to_do() {
    let bed = Bed::new();
    let cases: [(&[&str], &str); 4] = [
        (&["--listen", "nonsense"], "failed to listen at nonsense"),
        (
            &["--upstream", "openai=ftp://x"],
            "expected http://HOST or https://HOST",
        ),
        (&["--upstream", "openai"], "write NAME=URL"),
        (
            &["--token-file", "none.txt", "--listen", "127.0.0.1:0"],
            "failed to read none.txt",
        ),
    ];
    for (args, told) in cases {
        let args: Vec<&str> = ["proxy"].iter().chain(args).copied().collect();
        let (out, err) = bed.run(&args, 2);
        assert!(out.is_empty() && err.contains(told), "{args:?}: {err}");
    }
}

#[test]
fn elsewhere_than_on_loopback_a_token_is_made_up_or_read() {
    let bed = Bed::new();
    let serving = Serving::start(&bed, &["--listen", "0.0.0.0:0"]);
    let token = serving.greeting.split("?token=").nth(1).unwrap();
    let token = &token[..32];
    let port = serving.address.rsplit(':').next().unwrap();
    let address = format!("127.0.0.1:{port}");
    assert!(ask(&address, &get("/_neenee/metrics")).starts_with("HTTP/1.1 401"));
    let with = get("/_neenee/metrics").replace(
        "connection",
        &format!("authorization: Bearer {token}\r\nconnection"),
    );
    assert!(ask(&address, &with).starts_with("HTTP/1.1 200"));
    drop(serving);
    bed.write("token.txt", "mine-alone\n");
    let serving = Serving::start(
        &bed,
        &["--listen", "127.0.0.1:0", "--token-file", "token.txt"],
    );
    assert!(serving.greeting.contains("?token=mine-alone"));
}
