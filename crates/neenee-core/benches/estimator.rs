//! Throughput of the token estimator on text of kinds that fill a window, mixed and alone.
//! Deliberately no accuracy: `cargo xtask calibrate` measures that.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use neenee_core::estimate::{Estimator, TokenizerFamily, count_chars};
use std::fmt::Write as _;

fn main() {
    divan::main();
}

/// What the benchmarks read.
const KINDS: [Kind; 7] = [
    Kind::Mixed,
    Kind::Code,
    Kind::Json,
    Kind::Log,
    Kind::Prose,
    Kind::Han,
    Kind::Base64,
];

#[derive(Clone, Copy, Debug)]
enum Kind {
    Mixed,
    Code,
    Json,
    Log,
    Prose,
    Han,
    Base64,
}

impl Kind {
    /// About `bytes` of it. `Mixed` is a file named by `NEENEE_BENCH_TEXT`, where there is one.
    #[expect(
        clippy::disallowed_methods,
        reason = "a benchmark may measure a file of yours; core itself reads none"
    )]
    fn text(self, bytes: usize) -> String {
        if let (Self::Mixed, Some(path)) = (self, std::env::var_os("NEENEE_BENCH_TEXT")) {
            // A benchmark of a file that cannot be read has nothing to say.
            return std::fs::read_to_string(path).expect("NEENEE_BENCH_TEXT names a UTF-8 file");
        }
        let mut text = String::with_capacity(bytes + 1024);
        let mut seed = 1;
        while text.len() < bytes {
            self.line(&mut text, &mut seed);
        }
        text
    }

    fn line(self, text: &mut String, seed: &mut u64) {
        let a = word(seed);
        let b = word(seed);
        let n = random(seed) % 100_000;
        // Writing to a String cannot fail.
        let _ = match self {
            Self::Mixed => {
                let kinds = [
                    Self::Code,
                    Self::Code,
                    Self::Json,
                    Self::Log,
                    Self::Prose,
                    Self::Prose,
                    Self::Han,
                    Self::Base64,
                ];
                // Runs of one kind, as results are.
                let kind = kinds[(text.len() / 4096) % kinds.len()];
                return kind.line(text, seed);
            }
            Self::Code => writeln!(
                text,
                "        let {a}_{b} = self.{b}.get(&key[{n}..]).map(|{a}| {a}.len() + {n})?;"
            ),
            Self::Json => writeln!(
                text,
                "{{\"{a}\":{{\"id\":{n},\"{b}\":[true,null,{n}.5],\"path\":\"src/{a}/{b}.rs\"}}}},"
            ),
            Self::Log => writeln!(
                text,
                "2025-11-03T10:{:02}:{:02}.{n:06}Z  INFO {a}::{b}: request {n:x} took {n} ms",
                n % 60,
                n / 60 % 60
            ),
            Self::Prose => write!(
                text,
                "The {a} of a {b} is what {a} people mean, and {b} too. "
            ),
            Self::Han => write!(text, "上下文窗口被旧的工具结果占满了，需要清理{n}次。"),
            Self::Base64 => {
                let digits = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
                for _ in 0..76 {
                    text.push(char::from(digits[(random(seed) % 64) as usize]));
                }
                writeln!(text)
            }
        };
    }
}

#[divan::bench(args = KINDS)]
fn tokens(bencher: Bencher<'_, '_>, kind: Kind) {
    let text = kind.text(MEGABYTE);
    let estimator = Estimator::default();
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| estimator.tokens(black_box(&text)));
}

#[divan::bench(args = KINDS)]
fn measure(bencher: Bencher<'_, '_>, kind: Kind) {
    let text = kind.text(MEGABYTE);
    let estimator = Estimator::new(TokenizerFamily::O200k).with_factor(1.2);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| estimator.measure(black_box(&text)));
}

#[divan::bench]
fn chars(bencher: Bencher<'_, '_>) {
    let text = Kind::Mixed.text(MEGABYTE);
    bencher
        .counter(BytesCount::of_str(&text))
        .bench_local(|| count_chars(black_box(&text)));
}

/// The size of a text matters: results are a few kB each.
#[divan::bench(args = [64, 256, 1_024, 4_096, 16_384])]
fn one_by_one(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = Kind::Mixed.text(MEGABYTE);
    let mut pieces: Vec<String> = Vec::new();
    for scalar in text.chars() {
        match pieces.last_mut() {
            Some(piece) if piece.len() < bytes => piece.push(scalar),
            _ => pieces.push(scalar.into()),
        }
    }
    let estimator = Estimator::default();
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| {
        let tokens = black_box(&pieces)
            .iter()
            .map(|piece| estimator.tokens(piece));
        tokens.sum::<usize>()
    });
}

const MEGABYTE: usize = 1 << 20;

/// Xorshift: the same text in every run.
fn random(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed >> 8
}

fn word(seed: &mut u64) -> &'static str {
    const WORDS: [&str; 16] = [
        "parse",
        "index",
        "buffer",
        "Session",
        "window",
        "token",
        "limit",
        "reader",
        "path",
        "cache",
        "resultSet",
        "HTTPServer",
        "utf8",
        "config",
        "message",
        "estimator",
    ];
    WORDS[(random(seed) % WORDS.len() as u64) as usize]
}
