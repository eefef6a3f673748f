//! What an expansion asks of the shell around it.

use std::ops::Range;
use std::rc::Rc;

use crate::command::word::{Part, Word};

/// A word that cannot be followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Unreadable;

/// What an expansion asks of the shell that it stands in.
pub(crate) trait Shell {
    /// The value of a variable: its words, or `None` when it is not known here.
    fn variable(&mut self, name: &str) -> Option<Rc<[Word]>>;
    /// Sets a variable, as `${name:=value}` does.
    fn assign(&mut self, name: &str, value: Word);
    /// The positional parameters, if they are known.
    fn positional(&mut self) -> Option<Rc<[Word]>>;
    /// Runs the substitution that a parameter stands for, if it stands for one, and says what is
    /// known of its output.
    fn placeholder(&mut self, name: &str, quoted: bool) -> Option<Vec<Part>>;
    /// Runs a substitution that the scan has not seen, and says what is known of its output.
    fn substitute(&mut self, script: &str, span: &Range<usize>) -> Result<Vec<Part>, Unreadable>;
    /// The home folder.
    fn home(&mut self) -> String;
    /// The current folder, if it is known.
    fn cwd(&mut self) -> Option<String>;
    /// The folder before the current one, if it is known.
    fn cwd_before(&mut self) -> Option<String>;
}

/// How a word is expanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// As an argument: braces, splitting and patterns count.
    Argument,
    /// As a value, a redirection's text or a heredoc: it stays one word.
    Value,
}
