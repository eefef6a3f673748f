//! When two traces are the same, and what is shown when they are not.

use std::fmt::Write as _;

use serde_json::{Map, Value as Json, json};

/// Errors whose cause is part of what was recorded.
const CAUSE_COUNTS: [&str; 2] = ["scheduler_handler_cancelled", "tool_hook_denied"];

/// A trace in the form in which equal traces are equal texts: a line for each event, and one for the
/// state at the end.
pub(crate) fn canonical(trace: &Json) -> Vec<String> {
    let events = trace["events"].as_array().map_or(&[][..], Vec::as_slice);
    let events: Vec<_> = events.iter().map(normative).collect();
    let mut lines = Vec::new();
    for group in cancelled_in_order(&events).chunk_by(|one, two| one["t"] == two["t"]) {
        let mut group: Vec<_> = group.iter().map(ToString::to_string).collect();
        // Threads do not promise an order within an instant.
        if group.iter().any(|line| line.contains("\"offloaded\":true")) {
            group.sort();
        }
        lines.append(&mut group);
    }
    lines.push(json!({"final": normative(&trace["final"])}).to_string());
    lines
}

/// Without what is informative only: texts, and causes that are not part of an error's meaning.
fn normative(value: &Json) -> Json {
    match value {
        Json::Array(items) => items.iter().map(normative).collect(),
        Json::Object(fields) => {
            let kind = fields.get("kind").and_then(Json::as_str);
            let keeps = |name: &str| match (name, kind) {
                ("text", Some(_)) => false,
                ("cause", Some(kind)) => CAUSE_COUNTS.contains(&kind),
                _ => true,
            };
            let kept = fields.iter().filter(|(name, _)| keeps(name));
            let kept = kept.map(|(name, value)| (name.clone(), normative(value)));
            Json::Object(kept.collect::<Map<_, _>>())
        }
        plain => plain.clone(),
    }
}

/// A cancellation reaches siblings in no defined order: such ends stand in the order of names.
fn cancelled_in_order(events: &[Json]) -> Vec<Json> {
    let cancelled =
        |event: &Json| event["ev"] == "finish" && event["outcome"] == json!({"cancelled": true});
    let mut ordered = Vec::with_capacity(events.len());
    for run in events.chunk_by(|one, two| cancelled(one) && cancelled(two)) {
        let mut run = run.to_vec();
        run.sort_by_key(|event| event["handler"].as_str().unwrap_or_default().to_owned());
        ordered.append(&mut run);
    }
    ordered
}

/// Whether nothing differs.
pub(crate) fn is_same(recorded: &Json, came: &Json) -> bool {
    canonical(recorded) == canonical(came)
}

/// What differs, as lines with `-` for what was recorded and `+` for what came, or `None`.
pub(crate) fn difference(recorded: &Json, came: &Json) -> Option<String> {
    let (recorded, came) = (canonical(recorded), canonical(came));
    if recorded == came {
        return None;
    }
    let mut shown = String::new();
    for (sign, line) in diff(&recorded, &came) {
        let _ = writeln!(shown, "    {sign} {line}");
    }
    Some(shown)
}

/// The longest common subsequence, line by line.
fn diff<'a>(old: &'a [String], new: &'a [String]) -> Vec<(char, &'a str)> {
    let mut longest = vec![vec![0_usize; new.len() + 1]; old.len() + 1];
    for at in (0..old.len()).rev() {
        for to in (0..new.len()).rev() {
            longest[at][to] = if old[at] == new[to] {
                longest[at + 1][to + 1] + 1
            } else {
                longest[at + 1][to].max(longest[at][to + 1])
            };
        }
    }
    let (mut at, mut to, mut lines) = (0, 0, Vec::new());
    while at < old.len() || to < new.len() {
        if at < old.len() && to < new.len() && old[at] == new[to] {
            lines.push((' ', old[at].as_str()));
            (at, to) = (at + 1, to + 1);
        } else if to == new.len() || at < old.len() && longest[at + 1][to] >= longest[at][to + 1] {
            lines.push(('-', old[at].as_str()));
            at += 1;
        } else {
            lines.push(('+', new[to].as_str()));
            to += 1;
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(one: Json, two: Json, same: bool) {
        let trace = |events: Json| json!({"events": events, "final": {}});
        let difference = difference(&trace(one), &trace(two));
        assert_eq!(difference.is_none(), same, "{difference:?}");
    }

    #[test]
    fn the_order_counts_but_not_within_an_instant_of_threads() {
        let (a, b) = (json!({"t": 0, "mark": "a"}), json!({"t": 0, "mark": "b"}));
        check(json!([a, b]), json!([a, b]), true);
        check(json!([a, b]), json!([b, a]), false);
        let c = json!({"t": 0, "mark": "c", "offloaded": true});
        check(json!([a, b, c]), json!([c, b, a]), true);
        check(json!([a, c]), json!([{"t": 1, "mark": "a"}, c]), false);
    }

    #[test]
    fn a_message_counts_and_a_text_does_not() {
        let raised = |error: Json| json!([{"t": 0, "raised": error}]);
        let text = |text| raised(json!({"kind": "k", "text": text}));
        check(text("x"), text("y"), true);
        let message = |message| raised(json!({"kind": "k", "message": message}));
        check(message("x"), message("y"), false);
        let caused = |kind, cause| raised(json!({"kind": kind, "cause": {"kind": cause}}));
        check(caused("value_error", "a"), caused("value_error", "b"), true);
        let translated = "scheduler_handler_cancelled";
        check(caused(translated, "a"), caused(translated, "b"), false);
    }

    #[test]
    fn siblings_are_cancelled_in_any_order() {
        let end = |handler| json!({"t": 1, "ev": "finish", "handler": handler, "outcome": {"cancelled": true}});
        check(
            json!([end("a"), end("b")]),
            json!([end("b"), end("a")]),
            true,
        );
        check(json!([end("a")]), json!([end("b")]), false);
    }
}
