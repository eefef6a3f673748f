//! One row, tried: what the guards say, and what the operation reaches.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use triplane_interception::{Finding, Presence, ToolCall};

use crate::corpus::call::{path_call, shell_call};
use crate::corpus::row::{Label, PathRow};
use crate::corpus::world::{Identity, Side, World, WorldRefused, identity};
use crate::guard::{PathGuard, paths_in};
use crate::path::Opened;
use crate::place::Place;
use crate::tool::PathOp;

/// The rule of a denial that came after the check: what was checked is no longer there, and the
/// opened folder did not lead anywhere else.
pub const PATH_CHANGED: &str = "path.changed";

/// What was answered to one row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// May it happen?
    pub verdict: Label,
    /// The rule that denied it, and why.
    pub finding: Option<Finding>,
}

/// What was answered to the row of a path, and what came of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tried {
    /// What was answered.
    pub answer: Answer,
    /// What the operation reached outside the allowed folders: always wrong, whatever the verdict.
    pub reached: Option<PathBuf>,
}

impl From<Option<Finding>> for Answer {
    fn from(finding: Option<Finding>) -> Self {
        let verdict = if finding.is_some() {
            Label::Deny
        } else {
            Label::Allow
        };
        Self { verdict, finding }
    }
}

/// Asks `judge` about `command`, which is not run. It is given the path guard of the place, and
/// answers what speaks against the call.
pub fn try_command(
    command: &str,
    place: &Place,
    judge: impl FnOnce(PathGuard, ToolCall) -> Option<Finding>,
) -> Answer {
    judge(paths_in(&place.root), shell_call(command, place)).into()
}

/// Builds the files of `row`, asks `judge` about the operation, and performs it if nothing speaks
/// against it.
///
/// # Errors
///
/// Returns a [`WorldRefused`] when the row's files cannot be built or looked at.
pub fn try_path(
    row: &PathRow,
    world: &World,
    judge: impl FnOnce(PathGuard, ToolCall) -> Option<Finding>,
) -> Result<Tried, WorldRefused> {
    world.build(&row.setup)?;
    let root = world.root(row)?;
    let guard = paths_in(&root).with_temporary(&world.temporary);
    let place = Place {
        root: root.to_string_lossy().into_owned(),
        home: world.home.to_string_lossy().into_owned(),
        cwd: match &row.cwd {
            Some(cwd) => world.fill(cwd),
            None => root.to_string_lossy().into_owned(),
        },
    };
    let path = world.fill(&row.path);
    let call = path_call(row.op, &path, &place, Presence::Here);
    let own = world.files(Side::Within)?;
    let answered = |finding| Tried {
        answer: Answer::from(finding),
        reached: None,
    };
    if let Some(finding) = judge(guard.clone(), call.clone()) {
        return Ok(answered(Some(finding)));
    }
    let opened = match guard.open(row.op, &path, &guard.bounds(&call)) {
        Ok(opened) => opened,
        // The judge let pass what the guard refuses: it was not asked.
        Err(refusal) => {
            return Ok(answered(Some(Finding::new(
                "path.refused",
                refusal.to_string(),
            ))));
        }
    };
    world.build(&row.between)?;
    let Some(opened) = opened else {
        return Ok(answered(None));
    };
    // It is not performed where it would do harm: the corpus may be anybody's, and the guard wrong.
    if !world.allows(opened.path()) {
        return Ok(Tried {
            reached: Some(opened.path().to_owned()),
            ..answered(None)
        });
    }
    let before = world.outside()?;
    let strangers = &world.files(Side::Without)? - &own;
    let done = perform(row.op, &opened, &strangers);
    let reached = matches!(done, Ok(Reached::Stranger)) || world.outside()? != before;
    // Without a change in between, a failure is the operation's own: a folder that is not empty, a
    // file that is not there. The guard has let it pass.
    let changed = !row.between.is_empty();
    let finding = done.err().filter(|_| changed).map(|error| {
        let reason = format!("what was checked is no longer there: {error}");
        Finding::new(PATH_CHANGED, reason)
    });
    Ok(Tried {
        reached: reached.then(|| opened.path().to_owned()),
        ..answered(finding)
    })
}

enum Reached {
    Own,
    Stranger,
}

fn perform(op: PathOp, opened: &Opened, strangers: &HashSet<Identity>) -> io::Result<Reached> {
    let file: File = match op {
        PathOp::Read => {
            let mut file = opened.read()?;
            let found = file.metadata()?;
            if found.is_file() {
                file.read_to_end(&mut Vec::new())?;
            }
            file
        }
        PathOp::Write => {
            let mut file = opened.write()?;
            file.write_all(b"changed")?;
            file
        }
        PathOp::Delete => {
            opened.remove()?;
            return Ok(Reached::Own);
        }
    };
    let stranger = strangers.contains(&identity(&file.metadata()?));
    Ok(if stranger {
        Reached::Stranger
    } else {
        Reached::Own
    })
}

impl World {
    /// The workspace as the guard is given it.
    fn root(&self, row: &PathRow) -> Result<PathBuf, WorldRefused> {
        if !row.workspace_by_link {
            return Ok(self.workspace.clone());
        }
        let link = self.workspace.with_file_name("link-to-ws");
        symlink(&self.workspace, &link).map_err(|source| WorldRefused::Io {
            path: link.clone(),
            source,
        })?;
        Ok(link)
    }
}
