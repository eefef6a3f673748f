//! What a one-line program does, as data.

use crate::command::word::Word;

/// The interpreters whose one-liners are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    JavaScript,
    Perl,
    Ruby,
    Php,
    Awk,
    Lua,
    /// One whose programs are read statement by statement, for their names and texts only.
    Other,
    /// Tcl, whose words stand without quotes.
    Tcl,
}

/// What a one-liner does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CodeAct {
    /// Runs this text in a shell.
    Script(Word),
    /// Runs this text in a shell, if it is one: what surrounds it is only half understood.
    Perhaps(Word),
    /// Runs this argument vector.
    Argv(Vec<Word>),
    /// Runs this text as a program of the same language.
    Code(Word),
    /// Runs this text in a database.
    Sql(Word),
    /// Deletes everything of a collection.
    DeleteAll,
    /// Calls a function with these arguments.
    Call { name: String, args: Vec<Word> },
}
