//! The concept index of ARCHITECTURE.md: every path that it names exists.

use std::fs;
use std::path::Path;

use crate::finding::Finding;
use crate::workspace::Workspace;

const FILE: &str = "ARCHITECTURE.md";
const HEADING: &str = "## Concept index";

/// Checks the paths in backticks of every table row below the heading.
pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Vec<Finding>> {
    let file = Path::new(FILE);
    if !workspace.root.join(file).is_file() {
        return Ok(vec![Finding::fails(
            file,
            0,
            "the file is missing".to_owned(),
        )]);
    }
    let text = fs::read_to_string(workspace.root.join(file))?;
    let mut findings = Vec::new();
    let mut paths = 0;
    let mut inside = false;
    for (line, row) in (1..).zip(text.lines()) {
        if row.starts_with("## ") {
            inside = row.trim_end() == HEADING;
        }
        if !inside || !row.starts_with('|') {
            continue;
        }
        for path in paths_of(row) {
            paths += 1;
            if !workspace.root.join(path).exists() {
                let message = format!("the concept index names `{path}`, which does not exist");
                findings.push(Finding::fails(file, line, message));
            }
        }
    }
    if paths == 0 {
        let message = format!("no table with paths below `{HEADING}`");
        findings.push(Finding::fails(file, 0, message));
    }
    Ok(findings)
}

/// What stands in backticks in the last column of a table row.
fn paths_of(row: &str) -> impl Iterator<Item = &str> {
    let cells = row.trim().trim_matches('|').rsplit('|');
    cells
        .take(1)
        .flat_map(|cell| cell.split('`').skip(1).step_by(2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::fixture;

    fn check(text: &str, wanted: &[&str]) {
        let fixture = fixture::workspace(&[
            ("Cargo.toml", "[workspace]\nmembers = []\n"),
            ("here.rs", ""),
            (FILE, text),
        ]);
        let findings = super::check(&fixture.workspace).expect("readable");
        let got: Vec<_> = findings.iter().map(ToString::to_string).collect();
        assert_eq!(got, wanted);
    }

    #[test]
    fn a_path_that_does_not_exist_is_named_with_its_line() {
        check("## Concept index\n\n| `word` | `here.rs` |\n", &[]);
        check(
            "## Concept index\n| here | `here.rs`, `gone.rs` |\n## Else\n| a | `also_gone.rs` |\n",
            &["ARCHITECTURE.md:2: the concept index names `gone.rs`, which does not exist"],
        );
    }

    #[test]
    fn an_index_without_paths_is_no_index() {
        let wanted = "ARCHITECTURE.md: no table with paths below `## Concept index`";
        check("## Concept index\n", &[wanted]);
        check("| a | `here.rs` |\n", &[wanted]);
    }
}
