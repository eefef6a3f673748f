//! The formats that a recorded session comes in.

use std::fmt;
use std::str::FromStr;

/// How a recorded session is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Format {
    /// One hook event a line, in the shape that Claude Code and Codex send to hooks.
    Hooks,
    /// The session transcript that Claude Code writes, one entry a line.
    ClaudeTranscript,
}

impl Format {
    /// The name on command lines and in rows: `hooks` or `claude-transcript`.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Hooks => "hooks",
            Self::ClaudeTranscript => "claude-transcript",
        }
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A text that names no format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no format is called {0:?}: it is `hooks` or `claude-transcript`")]
pub struct UnknownFormat(pub String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Self, UnknownFormat> {
        match text {
            "hooks" => Ok(Self::Hooks),
            "claude-transcript" => Ok(Self::ClaudeTranscript),
            _ => Err(UnknownFormat(text.to_owned())),
        }
    }
}
