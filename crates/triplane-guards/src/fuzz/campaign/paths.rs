//! Paths of the corpora, changed by parts of paths.

use crate::fuzz::campaign::child::Campaign;
use crate::fuzz::campaign::corpus::{PathRow, rows};
use crate::fuzz::paths;

#[test]
fn no_allowed_path_leads_out() {
    Campaign {
        test: "paths::no_allowed_path_leads_out",
        fragments: FRAGMENTS,
        body: paths,
    }
    .run(|| {
        let rows: Vec<PathRow> = rows(["paths.jsonl", "paths-more.jsonl"]);
        rows.into_iter()
            .map(|row| format!("\u{4}{}", row.path))
            .collect()
    });
}

const FRAGMENTS: &[&str] = &[
    "/",
    "..",
    "../",
    "./",
    ".",
    "~",
    "$HOME",
    "${PWD}",
    "out",
    "out/",
    "top",
    "two",
    "loop",
    "in/",
    "tmp/",
    "dangling",
    "new",
    "git/",
    ".git",
    ".GIT",
    ".git/hooks",
    "src/",
    "a.rs",
    ".env",
    "{ROOT}",
    "{ROOT}/",
    "/etc/passwd",
    "/proc/self/root",
    "/dev/fd/0",
    "/tmp",
    "\0",
    "\n",
    " ",
    "%2e%2e/",
    "\u{ff0e}",
    "\u{2024}",
    "\u{200d}",
    "\u{e9}",
    "e\u{301}",
    "\\",
    ":",
    "*",
    "file://",
    "a/b/c/",
];
