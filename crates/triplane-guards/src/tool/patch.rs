//! The files of a patch.

use crate::tool::asked_path::AskedPath;
use crate::tool::op::PathOp;

/// What a line of a patch says before it names a file.
const MARKS: [(&str, PathOp); 10] = [
    ("*** Add File: ", PathOp::Write),
    ("*** Update File: ", PathOp::Write),
    ("*** Delete File: ", PathOp::Delete),
    ("*** Move to: ", PathOp::Write),
    ("rename from ", PathOp::Delete),
    ("rename to ", PathOp::Write),
    ("copy to ", PathOp::Write),
    ("Index: ", PathOp::Write),
    ("+++ ", PathOp::Write),
    ("--- ", PathOp::Write),
];

/// The files that a patch names, in its own form or as a unified diff.
pub(crate) fn patch(text: &str, asked: &mut Vec<AskedPath>) {
    let mut before = 0;
    for line in text.split_inclusive('\n') {
        let start = before;
        before += line.len();
        let named = MARKS
            .iter()
            .find_map(|(mark, op)| Some((*mark, *op, line.strip_prefix(mark)?)));
        let Some((mark, op, path)) = named else {
            continue;
        };
        let mut path = path.trim_end_matches(['\r', '\n']);
        let mut at = start + mark.len();
        if matches!(mark, "+++ " | "--- ") {
            path = path.split('\t').next().unwrap_or(path);
            if let Some(stem) = path.strip_prefix("a/").or_else(|| path.strip_prefix("b/")) {
                at += path.len() - stem.len();
                path = stem;
            }
            if path == "/dev/null" || path.is_empty() {
                continue;
            }
        }
        asked.push(AskedPath {
            op,
            path: path.to_owned(),
            at: at..at + path.len(),
        });
    }
}
