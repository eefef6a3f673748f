//! The files of a patch.

use crate::tool::op::PathOp;

/// The files that a patch names, in its own form or as a unified diff.
pub(crate) fn patch(text: &str, asked: &mut Vec<(PathOp, String)>) {
    for line in text.lines() {
        let line = line.trim_end_matches('\r');
        let named = [
            ("*** Add File: ", PathOp::Write),
            ("*** Update File: ", PathOp::Write),
            ("*** Delete File: ", PathOp::Delete),
            ("*** Move to: ", PathOp::Write),
            ("rename from ", PathOp::Delete),
            ("rename to ", PathOp::Write),
        ];
        let plain = named
            .iter()
            .find_map(|(mark, op)| Some((*op, line.strip_prefix(mark)?)));
        if let Some((op, path)) = plain {
            asked.push((op, path.to_owned()));
            continue;
        }
        let side = line
            .strip_prefix("+++ ")
            .or_else(|| line.strip_prefix("--- "));
        if let Some(path) = side {
            let path = path.split('\t').next().unwrap_or(path);
            let path = path
                .strip_prefix("a/")
                .or_else(|| path.strip_prefix("b/"))
                .unwrap_or(path);
            if path != "/dev/null" && !path.is_empty() {
                asked.push((PathOp::Write, path.to_owned()));
            }
        }
    }
}
