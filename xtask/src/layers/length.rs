//! The length of files: past a point, ask what second idea moved in.

use std::fs;

use crate::finding::Finding;
use crate::rust::source_files::rust_files;
use crate::workspace::Workspace;

/// A question to ask, not a wall.
const LINES_MAX: usize = 400;

/// Reports the files of every member that are longer than that.
pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        for file in rust_files(&workspace.root, &member.folder)? {
            let lines = fs::read_to_string(workspace.root.join(&file))?
                .lines()
                .count();
            if lines > LINES_MAX {
                let message = format!("{lines} lines; what second idea moved in?");
                findings.push(Finding::noted(&file, message));
            }
        }
    }
    Ok(findings)
}
