//! The formats: their names, how each is recognised and read; one line of a table per format.
//! Deliberately no code of any format: that stands in one file (or folder) each, below.

mod anthropic;
mod claude_code;
mod cline_roo;
mod codex;
mod gemini;
mod gemini_cli;
mod mini_swe_agent;
mod openai_chat;
mod openai_responses;
mod opencode;
mod openhands;
mod pi;
mod spoken;
mod swe_agent;

use std::fmt;

use crate::document::Draft;
use crate::error::Fault;
use crate::source::Source;

/// A format that can be read and written back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Format {
    /// A request body or message array of OpenAI Chat Completions.
    OpenAiChat,
    /// A request body or message array of Anthropic Messages.
    Anthropic,
    /// A session file of Claude Code.
    ClaudeCode,
    /// A rollout file of Codex CLI.
    Codex,
    /// A request body or array of contents of Gemini.
    Gemini,
    /// A chat file of Gemini CLI.
    GeminiCli,
    /// A history of Cline or Roo Code.
    ClineRoo,
    /// A trajectory of mini-swe-agent.
    MiniSweAgent,
    /// Events of OpenHands.
    OpenHands,
    /// A trajectory of SWE-agent.
    SweAgent,
    /// A session that `opencode export` printed.
    OpenCode,
    /// A session file of pi.
    Pi,
    /// A request body or item array of OpenAI Responses.
    OpenAiResponses,
}

/// What a format is to this crate. The order is that in which formats are asked whether an input is
/// theirs: those with unmistakable marks first, those that others build upon last.
#[rustfmt::skip]
const CODECS: &[Codec] = &[
    Codec { format: Format::ClaudeCode, name: "claude-code", describe: claude_code::DESCRIBE, sniff: claude_code::sniff, read: claude_code::read },
    Codec { format: Format::Codex, name: "codex", describe: codex::DESCRIBE, sniff: codex::sniff, read: codex::read },
    Codec { format: Format::GeminiCli, name: "gemini-cli", describe: gemini_cli::DESCRIBE, sniff: gemini_cli::sniff, read: gemini_cli::read },
    Codec { format: Format::Gemini, name: "gemini", describe: gemini::DESCRIBE, sniff: gemini::sniff, read: gemini::read },
    Codec { format: Format::MiniSweAgent, name: "mini-swe-agent", describe: mini_swe_agent::DESCRIBE, sniff: mini_swe_agent::sniff, read: mini_swe_agent::read },
    Codec { format: Format::SweAgent, name: "swe-agent", describe: swe_agent::DESCRIBE, sniff: swe_agent::sniff, read: swe_agent::read },
    Codec { format: Format::OpenHands, name: "openhands", describe: openhands::DESCRIBE, sniff: openhands::sniff, read: openhands::read },
    Codec { format: Format::OpenCode, name: "opencode", describe: opencode::DESCRIBE, sniff: opencode::sniff, read: opencode::read },
    Codec { format: Format::Pi, name: "pi", describe: pi::DESCRIBE, sniff: pi::sniff, read: pi::read },
    Codec { format: Format::OpenAiResponses, name: "openai-responses", describe: openai_responses::DESCRIBE, sniff: openai_responses::sniff, read: openai_responses::read },
    Codec { format: Format::ClineRoo, name: "cline-roo", describe: cline_roo::DESCRIBE, sniff: cline_roo::sniff, read: cline_roo::read },
    Codec { format: Format::Anthropic, name: "anthropic", describe: anthropic::DESCRIBE, sniff: anthropic::sniff, read: anthropic::read },
    Codec { format: Format::OpenAiChat, name: "openai-chat", describe: openai_chat::DESCRIBE, sniff: openai_chat::sniff, read: openai_chat::read },
];

struct Codec {
    format: Format,
    name: &'static str,
    describe: &'static str,
    /// Whether the input has this format's marks.
    sniff: fn(&Source<'_>) -> bool,
    read: for<'a> fn(&Source<'a>) -> Result<Draft<'a>, Fault>,
}

impl Format {
    /// Every format, in the order in which they are recognised.
    pub fn all() -> impl Iterator<Item = Format> {
        CODECS.iter().map(|codec| codec.format)
    }

    /// The name as users write it, as `openai-chat`.
    pub fn name(self) -> &'static str {
        self.codec().name
    }

    /// What it is and what its window is, in a line.
    pub fn describe(self) -> &'static str {
        self.codec().describe
    }

    /// The format of that name; `None` when there is none.
    pub fn parse(name: &str) -> Option<Format> {
        CODECS
            .iter()
            .find(|codec| codec.name == name)
            .map(|codec| codec.format)
    }

    /// The format whose marks the input has.
    pub(crate) fn sniff(source: &Source<'_>) -> Option<Format> {
        CODECS
            .iter()
            .find(|codec| (codec.sniff)(source))
            .map(|codec| codec.format)
    }

    /// Reads the input as this format.
    pub(crate) fn read<'a>(self, source: &Source<'a>) -> Result<Draft<'a>, Fault> {
        (self.codec().read)(source)
    }

    fn codec(self) -> &'static Codec {
        // invariant: every format has its line in the table; a test walks them all.
        CODECS
            .iter()
            .find(|codec| codec.format == self)
            .unwrap_or(&CODECS[0])
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
