//! The integration tests of the codecs. Not unit tests: those of scanner and strings stand beside them.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test says what it skips and which file it is at"
)]

mod anthropic;
mod chat;
mod check;
mod claude_code;
mod cline_roo;
mod codex;
mod gemini;
mod mini_swe_agent;
mod opencode;
mod openhands;
mod pi;
mod properties;
mod recorded;
mod responses;
mod shared;
mod swe_agent;
