//! Whether an operation on a path is within what the agent may do.

use std::path::{Path, PathBuf};

use triplane_interception::{Finding, Presence, ToolCall, Verdict};

use crate::names;
use crate::path::form::{Malformed, check};
use crate::path::resolve::{End, LastLink, Opened, Unresolvable, resolve};
use crate::place::absolute;
use crate::tool::{AskedPath, PathOp};

/// The rule of a verdict that rests on the text of a path alone.
pub const JUDGED_AS_TEXT: &str = "path.judged-as-text";

/// The folders within which paths are allowed, and where relative ones start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds {
    /// The workspace.
    pub root: PathBuf,
    /// The temporary folder.
    pub temporary: PathBuf,
    /// Where a relative path starts.
    pub cwd: PathBuf,
    /// Whether the root is a folder of this machine.
    pub presence: Presence,
}

impl Bounds {
    /// The bounds of a call: its own workspace, or `root` if that is given.
    pub(crate) fn of(call: &ToolCall, root: Option<&Path>, temporary: &Path) -> Self {
        let own = call.workspace.root.as_path();
        let root = root.unwrap_or(own);
        let cwd = match &call.cwd {
            Some(cwd) => root.join(cwd),
            None => root.to_owned(),
        };
        Self {
            root: root.to_owned(),
            temporary: temporary.to_owned(),
            cwd,
            presence: call.workspace.presence,
        }
    }
}

/// What was found out about one path.
#[derive(Debug)]
pub(crate) enum Judged {
    /// Allowed, and held open.
    Opened(Opened),
    /// Allowed, as far as the text tells.
    AsText,
    /// A device that holds nothing.
    Null,
    Refused(Refusal),
}

/// Why a path is refused.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The text is no path.
    #[error(transparent)]
    Malformed(#[from] Malformed),
    /// The path leads nowhere.
    #[error(transparent)]
    Unresolvable(#[from] Unresolvable),
    /// The workspace itself cannot be found.
    #[error("the workspace cannot be opened: {0}")]
    NoRoot(#[source] Unresolvable),
    /// The path leads out of every allowed folder.
    #[error("the path leads to `{0}`, outside the workspace")]
    Outside(PathBuf),
    /// The whole workspace, or the whole temporary folder.
    #[error("the operation would remove `{0}` itself")]
    Root(PathBuf),
    /// A file that holds secrets.
    #[error("`{0}` holds secrets by its name")]
    Secret(PathBuf),
    /// Git's own files, or the settings of the guard.
    #[error("`{0}` belongs to git or configures the guard")]
    Switch(PathBuf),
    /// A device, or the view of a process.
    #[error("`{0}` is a device or a view of a process")]
    Device(PathBuf),
    /// A pipe, a socket or a device file.
    #[error("`{0}` is no ordinary file")]
    Special(PathBuf),
    /// A file that has a second name somewhere.
    #[error("`{0}` has a second name elsewhere, and writing changes both")]
    SecondName(PathBuf),
}

impl Refusal {
    fn rule(&self) -> &'static str {
        match self {
            Self::Malformed(form) => form.rule(),
            Self::Unresolvable(_) => "path.unresolvable",
            Self::NoRoot(_) => "path.no-workspace",
            Self::Outside(_) => "path.outside",
            Self::Root(_) => "path.root",
            Self::Secret(_) => "path.secret",
            Self::Switch(_) => "path.switch",
            Self::Device(_) => "path.device",
            Self::Special(_) => "path.special",
            Self::SecondName(_) => "path.hard-link",
        }
    }

    fn safer(&self) -> &'static str {
        match self {
            Self::Malformed(_) => "write the path out, relative to the workspace",
            Self::Unresolvable(_) | Self::NoRoot(_) => "name a path that exists",
            Self::Outside(_) | Self::Root(_) => "name a file below the workspace",
            Self::Secret(_) => "name the setting that is needed, and have a person provide it",
            Self::Switch(_) => "have a person change this file",
            Self::Device(_) | Self::Special(_) => "name an ordinary file of the workspace",
            Self::SecondName(_) => "copy the file under a new name, and change the copy",
        }
    }

    /// Whether the refusal stands in every mode.
    fn is_hard(&self) -> bool {
        matches!(self, Self::Switch(_) | Self::Device(_))
    }

    pub(crate) fn verdict(&self, asked: &AskedPath, presence: Presence) -> Verdict {
        let mut reason = self.to_string();
        if presence == Presence::Elsewhere {
            reason.push_str(" (judged as text: the workspace is not on this machine)");
        }
        let mut finding = Finding::new(self.rule(), reason);
        finding.safer = Some(self.safer().to_owned());
        finding.offence = Some(asked.offence());
        if self.is_hard() {
            Verdict::HardDeny(finding)
        } else {
            Verdict::SoftDeny(finding)
        }
    }
}

/// Judges one operation on one path.
pub(crate) fn judge(op: PathOp, path: &str, bounds: &Bounds) -> Judged {
    let judged = match check(path) {
        Ok(()) => match bounds.presence {
            Presence::Here => here(op, path, bounds),
            Presence::Elsewhere => as_text(op, path, bounds),
        },
        Err(malformed) => Err(malformed.into()),
    };
    judged.unwrap_or_else(Judged::Refused)
}

fn here(op: PathOp, path: &str, bounds: &Bounds) -> Result<Judged, Refusal> {
    if let Some(device) = device(path, op)? {
        return Ok(device);
    }
    let root = resolve(
        &bounds.root.to_string_lossy(),
        Path::new("/"),
        LastLink::Follow,
    )
    .map_err(Refusal::NoRoot)?;
    let last = match op {
        PathOp::Delete => LastLink::Keep,
        PathOp::Read | PathOp::Write => LastLink::Follow,
    };
    let opened = resolve(path, &bounds.cwd, last)?;
    // Where a link led: a device stays a device.
    if let Some(device) = device(&opened.path().to_string_lossy(), op)? {
        return Ok(device);
    }
    let temporary = resolve(
        &bounds.temporary.to_string_lossy(),
        Path::new("/"),
        LastLink::Follow,
    );
    let temporary = temporary
        .as_ref()
        .map_or(bounds.temporary.as_path(), Opened::path);
    within(op, path, opened.path(), root.path(), temporary)?;
    match (opened.end(), op) {
        (End::Special, PathOp::Read | PathOp::Write) => {
            return Err(Refusal::Special(opened.path().to_owned()));
        }
        (End::File { names, .. }, PathOp::Write) if names > 1 => {
            return Err(Refusal::SecondName(opened.path().to_owned()));
        }
        _ => {}
    }
    Ok(Judged::Opened(opened))
}

fn as_text(op: PathOp, path: &str, bounds: &Bounds) -> Result<Judged, Refusal> {
    let cwd = bounds.cwd.to_string_lossy();
    let root = absolute(&bounds.root.to_string_lossy(), "/");
    let target = absolute(path, &absolute(&cwd, "/"));
    if let Some(device) = device(&target, op)? {
        return Ok(device);
    }
    let temporary = bounds.temporary.to_string_lossy();
    within(
        op,
        path,
        Path::new(&target),
        Path::new(&root),
        Path::new(&*temporary),
    )?;
    Ok(Judged::AsText)
}

/// `/dev`, `/proc` and `/sys` are refused, but for the null device.
fn device(path: &str, op: PathOp) -> Result<Option<Judged>, Refusal> {
    if !path.starts_with('/') {
        return Ok(None);
    }
    let target = absolute(path, "/");
    if target == "/dev/null" && op != PathOp::Delete {
        return Ok(Some(Judged::Null));
    }
    let view = ["dev", "proc", "sys"]
        .iter()
        .any(|tree| Path::new(&target).starts_with(Path::new("/").join(tree)));
    if view {
        return Err(Refusal::Device(target.into()));
    }
    Ok(None)
}

/// Holds where a path leads against the allowed folders and the protected names.
fn within(
    op: PathOp,
    asked: &str,
    target: &Path,
    root: &Path,
    temporary: &Path,
) -> Result<(), Refusal> {
    let inside = target
        .strip_prefix(root)
        .or_else(|_| target.strip_prefix(temporary))
        .map_err(|_| Refusal::Outside(target.to_owned()))?;
    if op == PathOp::Delete && (target == root || target == temporary) {
        return Err(Refusal::Root(target.to_owned()));
    }
    let names: Vec<_> = inside
        .components()
        .map(|component| component.as_os_str().to_string_lossy())
        .collect();
    let folded: Vec<_> = names.iter().map(|name| names::folded(name)).collect();
    // The name that was asked for counts too: a link is no disguise in either direction.
    let asked_name = names::folded(
        asked
            .trim_end_matches('/')
            .rsplit('/')
            .next()
            .unwrap_or(asked),
    );
    let secret =
        folded.last().is_some_and(|name| names::is_secret(name)) || names::is_secret(&asked_name);
    if secret {
        return Err(Refusal::Secret(target.to_owned()));
    }
    if op != PathOp::Read && names::is_switch(folded.iter().map(AsRef::as_ref)) {
        return Err(Refusal::Switch(target.to_owned()));
    }
    // The folder of the settings goes with them.
    if op == PathOp::Delete
        && matches!(folded.as_slice(), [.., last] if matches!(last.as_ref(), ".claude" | ".codex" | ".cursor"))
    {
        return Err(Refusal::Switch(target.to_owned()));
    }
    Ok(())
}
