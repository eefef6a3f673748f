//! One path explained: where it leads, and whether the operation is allowed there.

use std::path::{Path, PathBuf};

use anyhow::Result;
use serde::Serialize;
use triplane::Presence;
use triplane_guards::PathOp;
use triplane_guards::corpus::path_call;
use triplane_guards::paths_in;

use crate::cmd::guard::jury::Jury;
use crate::guard_args::GuardExplainArgs;
use crate::paint::{Ink, Screen};
use crate::render::Output;

#[derive(Serialize)]
struct Explained<'a> {
    path: &'a str,
    operation: &'static str,
    verdict: &'static str,
    rule: Option<String>,
    reason: Option<String>,
    safer: Option<String>,
    /// Where the path leads, without links; none when it is refused, or judged as text.
    leads_to: Option<PathBuf>,
    /// Whether links were followed: the workspace is on this machine.
    links_followed: bool,
}

/// Whether the operation is allowed.
pub(crate) fn explained(args: &GuardExplainArgs, path: &str, screen: Screen) -> Result<bool> {
    let jury = Jury::new(&args.place)?;
    let op = PathOp::from(args.operation);
    let here = Path::new(&jury.place.root).is_dir();
    let presence = if here {
        Presence::Here
    } else {
        Presence::Elsewhere
    };
    let guard = paths_in(&jury.place.root);
    let call = path_call(op, path, &jury.place, presence);
    let opened = guard.open(op, path, &guard.bounds(&call));
    let denied = jury.judge(guard, call)?;
    let explained = Explained {
        path,
        operation: op.as_str(),
        verdict: if denied.is_some() { "deny" } else { "allow" },
        leads_to: opened.ok().flatten().map(|opened| opened.path().to_owned()),
        links_followed: here,
        rule: denied.as_ref().map(|finding| finding.rule.clone()),
        reason: denied.as_ref().map(|finding| finding.reason.clone()),
        safer: denied.as_ref().and_then(|finding| finding.safer.clone()),
    };
    let mut out = Output::new();
    if args.json {
        out.json(&explained);
    } else {
        explained.tell(&mut out, screen);
    }
    Ok(denied.is_none())
}

impl Explained<'_> {
    fn tell(&self, out: &mut Output, screen: Screen) {
        out.line(format_args!("{} {}", self.operation, self.path));
        match &self.leads_to {
            Some(path) => out.line(format_args!("  leads to: {}", path.display())),
            None if !self.links_followed => {
                out.line("  judged as text: the workspace is not on this machine");
            }
            None => {}
        }
        if let Some(reason) = &self.reason {
            out.line(format_args!("  reason: {reason}"));
        }
        if let Some(safer) = &self.safer {
            out.line(format_args!("  safer:  {safer}"));
        }
        out.line(match &self.rule {
            Some(rule) => format!("{}, by {rule}", screen.paint.dip(Ink::Red, "denied")),
            None => screen.paint.dip(Ink::Green, "allowed").into_owned(),
        });
    }
}
