//! What the scan is inside of.

/// What the scan is inside of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Commands up to a `)`. A substitution continues a word, a subshell ends a command.
    Paren { substitution: bool },
    /// Parentheses that hold words: arrays, patterns, arithmetic, tests.
    Group,
    /// `((` or `$((`.
    Arithmetic { substitution: bool },
    /// `${`; within double quotes an apostrophe quotes nothing.
    Brace { quoted: bool },
    /// Double quotes.
    Double,
    /// Backquotes.
    Backquote,
    /// The body of an unquoted heredoc: only substitutions count.
    Heredoc,
    /// `{` up to `}`.
    Block,
    /// `[[` up to `]]`.
    Test,
    /// `if` up to `fi`.
    If,
    /// `for`, `while`, `until` or `select` up to `done`.
    Loop,
    /// `case` up to `esac`.
    Case(Arm),
}

impl Mode {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Paren { .. } | Self::Group => "parenthesis",
            Self::Arithmetic { .. } => "arithmetic expression",
            Self::Brace { .. } => "`${`",
            Self::Double => "double quote",
            Self::Backquote => "backquote",
            Self::Heredoc => "heredoc",
            Self::Block => "`{`",
            Self::Test => "`[[`",
            Self::If => "`if`",
            Self::Loop => "loop",
            Self::Case(_) => "`case`",
        }
    }

    /// Whether commands stand here, so that words may be reserved and `#` starts a comment.
    pub(crate) fn holds_commands(self) -> bool {
        match self {
            Self::Paren { .. }
            | Self::Backquote
            | Self::Block
            | Self::If
            | Self::Loop
            | Self::Case(_) => true,
            Self::Group
            | Self::Arithmetic { .. }
            | Self::Brace { .. }
            | Self::Double
            | Self::Heredoc
            | Self::Test => false,
        }
    }
}

/// Where in a `case` the scan stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Arm {
    Subject,
    Pattern,
    Body,
}

/// What the next word would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Position {
    /// The name of a command, or a reserved word.
    Command,
    /// The name of a function or coprocess; a command follows it.
    Name,
    /// The file of a redirection, after which this position returns.
    Target { command: bool },
    /// An argument.
    Argument,
}
