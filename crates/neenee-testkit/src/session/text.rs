//! Made-up text: prose, code, logs, matches, commands, in the mix that agents meet.
//! Deliberately not random bytes: estimators and scanners are measured on it.

use std::fmt::Write;

const WORDS: [&str; 48] = [
    "session", "window", "result", "parser", "index", "cache", "request", "budget", "token",
    "error", "value", "config", "reader", "buffer", "stream", "handle", "update", "branch",
    "commit", "format", "length", "offset", "policy", "router", "signal", "thread", "upload",
    "vector", "widget", "format", "import", "module", "object", "option", "output", "prefix",
    "record", "schema", "search", "server", "status", "string", "struct", "suffix", "target",
    "timer", "trace", "worker",
];
const FOLDERS: [&str; 8] = ["core", "net", "ui", "store", "auth", "jobs", "api", "cli"];
const GLYPHS: &str = "会话窗口结果解析缓存请求预算令牌错误配置读取更新分支提交";

/// A source of words and of random numbers (splitmix64: tiny, and good enough to scatter sizes).
pub(super) struct Words {
    state: u64,
}

impl Words {
    pub(super) fn new(seed: u64) -> Self {
        Words { state: seed }
    }

    fn next(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit.max(1) as u64) as usize
    }

    pub(super) fn word(&mut self) -> &'static str {
        WORDS[self.below(WORDS.len())]
    }

    pub(super) fn file(&mut self, files: usize) -> String {
        let number = self.below(files);
        let folder = FOLDERS[number % FOLDERS.len()];
        let name = WORDS[number * 7 % WORDS.len()];
        format!("/repo/src/{folder}/{name}_{number}.rs")
    }

    pub(super) fn prose(&mut self, bytes: usize) -> String {
        let mut out = String::with_capacity(bytes + 16);
        let cjk = self.below(20) == 0;
        while out.len() < bytes {
            if cjk {
                let skip = self.below(24);
                out.extend(GLYPHS.chars().skip(skip).take(4));
                out.push('，');
                continue;
            }
            out.push_str(self.word());
            out.push_str(match self.below(12) {
                0 => ". ",
                1 => ", the ",
                2 => " of a ",
                _ => " ",
            });
        }
        out
    }

    pub(super) fn code(&mut self, bytes: usize) -> String {
        let mut out = String::with_capacity(bytes + 80);
        while out.len() < bytes {
            self.code_line(&mut out);
        }
        out
    }

    pub(super) fn numbered_code(&mut self, from: usize, lines: usize) -> String {
        let mut out = String::with_capacity(lines * 48);
        for line in from..from + lines {
            let _ = write!(out, "{line:>6}\u{2192}");
            self.code_line(&mut out);
        }
        out
    }

    fn code_line(&mut self, out: &mut String) {
        let (a, b, n) = (self.word(), self.word(), self.below(5_000));
        let indent = "    ".repeat(self.below(4));
        let _ = match self.below(6) {
            0 => writeln!(out, "{indent}let {a}_{b} = self.{b}.{a}({n})?;"),
            1 => writeln!(out, "{indent}if {a} != {b} {{ return Err(Error::{a}); }}"),
            2 => writeln!(
                out,
                "{indent}// The {a} of a {b} is checked before the {a} is sent."
            ),
            3 => writeln!(out),
            4 => writeln!(out, "{indent}}}"),
            _ => writeln!(out, "{indent}pub fn {a}_{n}(&self, {b}: &str) -> usize {{"),
        };
    }

    pub(super) fn log(&mut self, bytes: usize) -> String {
        let mut out = String::with_capacity(bytes + 120);
        while out.len() < bytes {
            let (a, b) = (self.word(), self.word());
            let (n, m) = (self.below(100_000), self.below(60));
            let _ = match self.below(4) {
                0 => writeln!(out, "test {a}::{b}_{m} ... ok"),
                1 => writeln!(
                    out,
                    "2026-04-{:02}T10:{m:02}:07.{n:05}Z INFO {a}: {b} took {m}.{m} ms",
                    m % 28 + 1
                ),
                2 => writeln!(out, "warning: unused variable `{a}` at src/{b}.rs:{n}:{m}"),
                _ => writeln!(
                    out,
                    "   Compiling {a}-{b} v0.{m}.{n} (#{:016x})",
                    self.next()
                ),
            };
        }
        out
    }

    pub(super) fn matches(&mut self, word: &str, bytes: usize, files: usize) -> String {
        let mut out = String::with_capacity(bytes + 120);
        while out.len() < bytes {
            let file = self.file(files);
            let _ = write!(out, "{file}:{}:", self.below(900));
            self.code_line(&mut out);
            out.push_str(word);
        }
        out
    }

    pub(super) fn command(&mut self, file: &str) -> String {
        match self.below(7) {
            0 => format!("cat {file}"),
            1 => format!(
                "sed -n '{},{}p' {file}",
                1 + self.below(90),
                100 + self.below(90)
            ),
            2 => format!("cd /repo && cargo test {} 2>&1 | tail -40", self.word()),
            3 => "git status --short && git diff --stat".to_owned(),
            4 => format!("rg -n '{}' src | head -50", self.word()),
            5 => format!(
                "for f in src/*.rs; do wc -l \"$f\"; done; echo {}",
                self.word()
            ),
            _ => format!("sed -i 's/{}/{}/' {file}", self.word(), self.word()),
        }
    }
}
