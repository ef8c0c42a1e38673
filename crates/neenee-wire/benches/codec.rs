//! Reading and splicing bodies of 10 MB, in MB/s. Not the plan between the two, which is the core's.

use divan::Bencher;
use divan::counter::BytesCount;
use neenee_testkit::session::{SessionSpec, anthropic_body, chat_body};
use neenee_wire::{Edit, Format};

const BYTES: usize = 10_000_000;

fn main() {
    divan::main();
}

const FORMATS: [&str; 2] = ["anthropic", "openai-chat"];

fn body(format: &str) -> (Vec<u8>, Format) {
    let messages = SessionSpec {
        bytes: BYTES,
        ..SessionSpec::of_tokens(BYTES / 4)
    }
    .build();
    let bytes = match format {
        "anthropic" => anthropic_body(&messages, "claude-sonnet-4-5"),
        _ => chat_body(&messages, "gpt-5"),
    };
    (bytes, Format::parse(format).expect("a format of the table"))
}

#[divan::bench(args = FORMATS)]
fn read(bencher: Bencher<'_, '_>, format: &str) {
    let (bytes, format) = body(format);
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench_local(|| neenee_wire::read(&bytes, Some(format)).map(|d| d.results().len()));
}

#[divan::bench(args = FORMATS)]
fn recognise(bencher: Bencher<'_, '_>, format: &str) {
    let (bytes, _) = body(format);
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench_local(|| neenee_wire::detect(&bytes));
}

#[divan::bench(args = FORMATS)]
fn splice_half_of_the_results(bencher: Bencher<'_, '_>, format: &str) {
    let (bytes, format) = body(format);
    let document = neenee_wire::read(&bytes, Some(format)).expect("a body of our own");
    let edits: Vec<Edit<'_>> = (0..document.results().len() / 2)
        .map(|ordinal| Edit {
            ordinal,
            content: "[cleared tool result: read src/main.rs (42 lines, 1500 chars)]",
        })
        .collect();
    bencher
        .counter(BytesCount::new(bytes.len()))
        .bench_local(|| document.splice(&edits));
}
