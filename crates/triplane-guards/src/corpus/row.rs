//! One row of a corpus, as it is written down.

use serde::Deserialize;

use crate::tool::PathOp;

/// One labelled input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// The row's id.
    pub id: String,
    /// The family that the row belongs to, if it names one.
    pub class: Option<String>,
    /// What is to be judged.
    pub subject: Subject,
    /// The verdict that the row wants.
    pub wanted: Label,
    /// Why, in words.
    pub why: Option<String>,
}

/// What a row is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Subject {
    /// A shell command.
    Command(String),
    /// An operation on a path.
    Path(PathRow),
}

/// An operation on a path, with the files around it. Texts may hold placeholders.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathRow {
    /// What is done to the path.
    pub op: PathOp,
    /// The path, as an agent would write it.
    pub path: String,
    /// The folder that a relative path starts in; the workspace, if there is none.
    pub cwd: Option<String>,
    /// What exists beforehand.
    pub setup: Vec<Step>,
    /// What changes after the guard's check and before the operation.
    pub between: Vec<Step>,
    /// Whether the guard is given the workspace by a link to it.
    pub workspace_by_link: bool,
}

/// One change to the files of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A folder, with those above it.
    Dir(String),
    /// A file.
    File(String),
    /// A named pipe.
    Fifo(String),
    /// A symbolic link.
    Symlink {
        /// The link.
        at: String,
        /// What it says.
        to: String,
    },
    /// A second name of a file.
    Hardlink {
        /// The new name.
        at: String,
        /// The file.
        to: String,
    },
    /// The file, link or folder is removed, with all that is in it.
    Remove(String),
}

/// The verdict of a row or of a guard.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Label {
    /// It may happen.
    Allow,
    /// It must not.
    Deny,
}

impl Label {
    /// The word that a corpus has for it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Deny => "deny",
        }
    }
}

/// Why a line is no row.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RowRefused {
    /// The line is no JSON object, or a field of it has the wrong type.
    #[error("not a row: {0}")]
    Json(#[source] serde_json::Error),
    /// A field is missing.
    #[error("`{0}` is missing")]
    Missing(&'static str),
    /// The row is neither of a command nor of a path.
    #[error("the row is of no known kind: it has neither `command` nor `op` and `path`")]
    Kind,
    /// The row is both.
    #[error("the row is of two kinds: it has `command`, and `op` or `path`")]
    TwoKinds,
    /// A field holds a word that it cannot hold.
    #[error("`{field}`: {found:?} is none of {known}")]
    Word {
        /// The field.
        field: &'static str,
        /// What it holds.
        found: String,
        /// What it may hold.
        known: &'static str,
    },
    /// A step says nothing that is known, or more than one thing.
    #[error(
        "`{list}[{index}]`: a step is one of dir, file, fifo, remove, symlink with to, hardlink with to"
    )]
    Step {
        /// `setup` or `between`.
        list: &'static str,
        /// The step's number, from 0.
        index: usize,
    },
}

/// Fields that are not named here are remarks.
#[derive(Deserialize)]
struct Written {
    id: Option<String>,
    class: Option<String>,
    verdict: Option<String>,
    why: Option<String>,
    command: Option<String>,
    op: Option<String>,
    path: Option<String>,
    cwd: Option<String>,
    #[serde(default)]
    setup: Vec<WrittenStep>,
    #[serde(default)]
    between: Vec<WrittenStep>,
    workspace_opened_as: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenStep {
    dir: Option<String>,
    file: Option<String>,
    fifo: Option<String>,
    symlink: Option<String>,
    hardlink: Option<String>,
    remove: Option<String>,
    to: Option<String>,
}

impl Row {
    /// Reads one line.
    ///
    /// # Errors
    ///
    /// Returns a [`RowRefused`] that names the field.
    pub fn read(line: &str) -> Result<Self, RowRefused> {
        let written: Written = serde_json::from_str(line).map_err(RowRefused::Json)?;
        let subject = match (written.command, written.op, written.path) {
            (Some(command), None, None) => Subject::Command(command),
            (None, Some(op), Some(path)) => Subject::Path(PathRow {
                op: op_of(op)?,
                path,
                cwd: written.cwd,
                setup: steps("setup", written.setup)?,
                between: steps("between", written.between)?,
                workspace_by_link: by_link(written.workspace_opened_as.as_deref())?,
            }),
            (None, None, None) => return Err(RowRefused::Kind),
            (None, None, Some(_)) => return Err(RowRefused::Missing("op")),
            (None, Some(_), None) => return Err(RowRefused::Missing("path")),
            (Some(_), _, _) => return Err(RowRefused::TwoKinds),
        };
        Ok(Self {
            id: written.id.ok_or(RowRefused::Missing("id"))?,
            class: written.class,
            subject,
            wanted: label_of(written.verdict.ok_or(RowRefused::Missing("verdict"))?)?,
            why: written.why,
        })
    }
}

fn label_of(found: String) -> Result<Label, RowRefused> {
    match found.as_str() {
        "allow" => Ok(Label::Allow),
        "deny" => Ok(Label::Deny),
        _ => Err(RowRefused::Word {
            field: "verdict",
            found,
            known: "allow, deny",
        }),
    }
}

fn op_of(found: String) -> Result<PathOp, RowRefused> {
    match found.as_str() {
        "read" => Ok(PathOp::Read),
        "write" => Ok(PathOp::Write),
        "delete" => Ok(PathOp::Delete),
        _ => Err(RowRefused::Word {
            field: "op",
            found,
            known: "read, write, delete",
        }),
    }
}

fn by_link(found: Option<&str>) -> Result<bool, RowRefused> {
    match found {
        None => Ok(false),
        Some("symlink") => Ok(true),
        Some(other) => Err(RowRefused::Word {
            field: "workspace_opened_as",
            found: other.to_owned(),
            known: "symlink",
        }),
    }
}

fn steps(list: &'static str, written: Vec<WrittenStep>) -> Result<Vec<Step>, RowRefused> {
    written
        .into_iter()
        .enumerate()
        .map(|(index, step)| step.read().ok_or(RowRefused::Step { list, index }))
        .collect()
}

impl WrittenStep {
    fn read(self) -> Option<Step> {
        let mut steps = [
            self.dir.map(Step::Dir),
            self.file.map(Step::File),
            self.fifo.map(Step::Fifo),
            self.remove.map(Step::Remove),
        ]
        .into_iter()
        .flatten();
        match (steps.next(), self.symlink, self.hardlink, self.to) {
            (Some(step), None, None, None) => steps.next().is_none().then_some(step),
            (None, Some(at), None, Some(to)) => Some(Step::Symlink { at, to }),
            (None, None, Some(at), Some(to)) => Some(Step::Hardlink { at, to }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_of_a_command_or_of_a_path() {
        let row = Row::read(
            r#"{"id": "c1", "class": "rm", "command": "rm -rf /", "verdict": "deny", "note": 1}"#,
        );
        let row = row.unwrap();
        assert_eq!(row.subject, Subject::Command("rm -rf /".to_owned()));
        assert_eq!(
            (row.wanted, row.class.as_deref()),
            (Label::Deny, Some("rm"))
        );
        let row = Row::read(
            r#"{"id": "p1", "op": "read", "path": "a", "setup": [{"symlink": "$W/a", "to": "$OUT/s"}], "verdict": "deny"}"#,
        );
        let Subject::Path(path) = row.unwrap().subject else {
            panic!("a row of a path");
        };
        assert_eq!(
            (path.op, path.setup),
            (
                PathOp::Read,
                vec![Step::Symlink {
                    at: "$W/a".to_owned(),
                    to: "$OUT/s".to_owned()
                }]
            )
        );
    }

    #[test]
    fn what_is_no_row_is_refused_with_the_field() {
        let check = |line: &str, wanted: &str| {
            let error = Row::read(line).unwrap_err().to_string();
            assert!(error.contains(wanted), "{line}: {error}");
        };
        check("{", "not a row: EOF");
        check("[]", "not a row: ");
        check(r#"{"id": "x", "verdict": "deny"}"#, "no known kind");
        check(
            r#"{"id": "x", "command": "ls", "op": "read", "path": "a", "verdict": "deny"}"#,
            "two kinds",
        );
        check(
            r#"{"id": "x", "path": "a", "verdict": "deny"}"#,
            "`op` is missing",
        );
        check(r#"{"command": "ls", "verdict": "deny"}"#, "`id` is missing");
        check(r#"{"id": "x", "command": "ls"}"#, "`verdict` is missing");
        check(
            r#"{"id": "x", "command": "ls", "verdict": "ask"}"#,
            r#"`verdict`: "ask" is none of allow, deny"#,
        );
        check(
            r#"{"id": "x", "op": "exec", "path": "a", "verdict": "deny"}"#,
            r#"`op`: "exec""#,
        );
        check(
            r#"{"id": "x", "op": "read", "path": "a", "setup": [{"dir": "a"}, {"dir": "a", "file": "b"}], "verdict": "deny"}"#,
            "`setup[1]`",
        );
        check(
            r#"{"id": "x", "op": "read", "path": "a", "between": [{"symlink": "a"}], "verdict": "deny"}"#,
            "`between[0]`",
        );
        check(
            r#"{"id": "x", "op": "read", "path": "a", "setup": [{"socket": "a"}], "verdict": "deny"}"#,
            "unknown field `socket`",
        );
    }
}
