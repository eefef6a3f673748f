//! One simple command: what a command comes down to.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

use crate::command::layers::is_shell;
use crate::command::word::Word;
use crate::place::Place;

/// What the command does that is no command of its own, as the name of a program.
pub(crate) mod pseudo {
    pub(crate) const UNPARSABLE: &str = "(unparsable)";
    pub(crate) const UNKNOWN_PROGRAM: &str = "(unknown-program)";
    pub(crate) const UNKNOWN_SCRIPT: &str = "(unknown-script)";
    pub(crate) const UNKNOWN_CODE: &str = "(unknown-code)";
    pub(crate) const UNKNOWN_SQL: &str = "(unknown-sql)";
    pub(crate) const FORK_BOMB: &str = "(fork-bomb)";
    pub(crate) const TOO_MUCH: &str = "(too-much)";
    pub(crate) const WRITE: &str = "(write)";
    pub(crate) const APPEND: &str = "(append)";
    pub(crate) const READ: &str = "(read)";
    pub(crate) const SQL: &str = "(sql)";
    pub(crate) const DELETE_ALL: &str = "(delete-all)";
    pub(crate) const SCHEDULE: &str = "(schedule)";
}

/// One simple command: a program and its arguments, as known before it runs.
#[derive(Debug, Clone)]
pub struct Simple {
    /// The program's name without its folder, or a name in parentheses for what is none.
    pub program: String,
    /// The arguments.
    pub args: Vec<Word>,
    /// The folders that it may run in; `None` is any.
    pub cwd: Arc<[Option<String>]>,
    /// Where the command stands in the outermost text, in bytes.
    pub span: Range<usize>,
    /// Whether it runs on another machine or in a container.
    pub remote: bool,
    /// The path under which the workspace is seen there, if it is.
    pub bound: Option<Arc<str>>,
}

impl Simple {
    /// The place as this command sees it.
    pub(crate) fn seen_from<'a>(&self, place: &'a Place) -> Cow<'a, Place> {
        if self.remote {
            let root = self.bound.as_deref().unwrap_or("/\u{0}none");
            Cow::Owned(Place {
                root: root.to_owned(),
                home: "/\u{0}home".to_owned(),
                cwd: root.to_owned(),
            })
        } else {
            Cow::Borrowed(place)
        }
    }
}

/// The name of a program without its folder, its case and its suffix.
pub(crate) fn program_name(path: &str) -> String {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    let mut name = name.to_ascii_lowercase();
    if let Some(stem) = name.strip_suffix(".exe") {
        name = stem.to_owned();
    }
    // In some shells `=name` is the path of a program.
    if let Some(named) = name.strip_prefix('=') {
        name = named.to_owned();
    }
    // A front end of git that takes the same commands.
    if name == "hub" {
        "git".clone_into(&mut name);
    }
    // A login shell's name starts with a hyphen.
    if let Some(shell) = name.strip_prefix('-')
        && is_shell(shell)
    {
        name = shell.to_owned();
    }
    name
}
