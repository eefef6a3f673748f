//! Reading pages and sources of the workspace.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn workspace() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn text(path: impl AsRef<Path>) -> String {
    let file = workspace().join(path);
    fs::read_to_string(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// The cells of every row of the table of a page, without its head.
pub(crate) fn rows(page: &str) -> Vec<Vec<String>> {
    let lines = page.lines().filter(|line| line.starts_with('|')).skip(2);
    lines
        .map(|line| {
            let cells = line.trim_matches('|').split('|');
            cells.map(|cell| cell.trim().to_owned()).collect()
        })
        .collect()
}

/// What stands between backticks.
pub(crate) fn code(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// The Rust sources of the crates, with their paths; `crate/src` only.
pub(crate) fn sources() -> Vec<(PathBuf, String)> {
    let mut found = Vec::new();
    let crates = workspace().join("crates");
    for entry in fs::read_dir(&crates).expect("the folder of the crates") {
        collect(&entry.expect("an entry").path().join("src"), &mut found);
    }
    assert!(found.len() > 100, "the sources are there");
    found
}

fn collect(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
    for entry in fs::read_dir(folder).expect("a folder of sources") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            collect(&path, found);
        } else if path.extension().is_some_and(|kind| kind == "rs") {
            let source = fs::read_to_string(&path).expect("a source");
            found.push((path, source));
        }
    }
}
