//! What a command may run besides itself, as data.

use crate::command::code::Language;
use crate::command::sql::Dialect;
use crate::command::word::Word;

/// One thing that a command runs besides itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Layer {
    /// Another command, as an argument vector.
    Command { argv: Vec<Word>, host: Host },
    /// The text of a shell script, with its positional parameters.
    Script {
        text: Word,
        args: Vec<Word>,
        host: Host,
    },
    /// Standard input, as a shell script.
    ScriptOfInput { host: Host },
    /// Standard input, as the lines of a crontab.
    ScheduleOfInput,
    /// The text of a makefile.
    Recipes { text: Word },
    /// A makefile; `-` is standard input.
    RecipeFile { file: Word },
    /// Text that PowerShell runs.
    Cmdlets { text: Word },
    /// A script file.
    ScriptFile { file: Word, args: Vec<Word> },
    /// SQL text.
    Sql { text: Word, dialect: Dialect },
    /// Standard input, as SQL.
    SqlOfInput { dialect: Dialect },
    /// The text of a program.
    Code { text: Word, language: Language },
    /// A program file.
    CodeFile { file: Word, language: Language },
    /// A file of statements.
    SqlFile { file: Word, dialect: Dialect },
    /// Standard input, as a program.
    CodeOfInput { language: Language },
    /// A command whose last words are those of standard input.
    WithInput {
        argv: Vec<Word>,
        replace: Option<String>,
        split: Split,
        /// The file that is read instead of standard input.
        file: Option<Word>,
    },
    /// Another command, run in this folder.
    InFolder { argv: Vec<Word>, folder: Word },
    /// A command in a container that sees folders of this machine.
    Bound {
        argv: Vec<Word>,
        mounts: Vec<Mount>,
        folder: Option<Word>,
    },
}

/// A folder of this machine, and the path under which a container sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Mount {
    pub(crate) source: String,
    pub(crate) target: String,
}

/// Where input is split into words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Split {
    Blanks,
    Lines,
}

/// Where a layer runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Host {
    Here,
    /// Another machine or a container: its paths are not the workspace's.
    Elsewhere,
}

pub(crate) fn command(argv: &[Word], host: Host) -> Vec<Layer> {
    if argv.is_empty() {
        return Vec::new();
    }
    vec![Layer::Command {
        argv: argv.to_vec(),
        host,
    }]
}

pub(crate) fn here(argv: &[Word]) -> Vec<Layer> {
    command(argv, Host::Here)
}

pub(crate) fn script(text: Word) -> Layer {
    Layer::Script {
        text,
        args: Vec::new(),
        host: Host::Here,
    }
}

pub(crate) fn elsewhere(layer: Layer) -> Layer {
    match layer {
        Layer::Command { argv, .. } => Layer::Command {
            argv,
            host: Host::Elsewhere,
        },
        Layer::Script { text, args, .. } => Layer::Script {
            text,
            args,
            host: Host::Elsewhere,
        },
        Layer::ScriptOfInput { .. } => Layer::ScriptOfInput {
            host: Host::Elsewhere,
        },
        other => other,
    }
}
