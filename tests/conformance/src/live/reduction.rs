//! Smaller scenarios: each is one cut away from the scenario that it is made of.

use triplane::legacy::Value;

use crate::fields::Fields as _;
use crate::live::edit::{with, with_item, without_handler, without_range};

/// Fields that an operation may lack, by its name; an empty name stands for every operation.
const OPTIONAL: &[(&str, &[&str])] = &[
    ("", &["cancel_emitter_after_ms"]),
    ("register", &["kinds", "ids", "override", "name"]),
    (
        "emit",
        &["kind", "id", "status", "previous_status", "reason_code"],
    ),
    ("broadcast", &["payload", "event"]),
    ("observe", &["role", "types", "predicates"]),
    ("bind_store", &["results", "write_ms", "report"]),
    ("add_message", &["kind"]),
    ("load_hooks_for_agent", &["hooks"]),
    ("build_session_bus", &["hooks", "observer"]),
];

/// Lists of an operation whose items may go one by one.
const LISTS: &[&str] = &["keys", "kinds", "ids", "types", "predicates", "results"];

/// Steps that hold steps.
const NESTED: &[&str] = &["try", "on_cancel"];

/// The scenarios that are one cut smaller, those with the largest cuts first.
pub(super) fn smaller(scenario: &Value) -> Vec<Value> {
    let mut found = Vec::new();
    for (name, _) in scenario.field("handlers").map_or(&[][..], Value::fields) {
        found.push(without_handler(scenario, name));
    }
    let script = scenario.list("script");
    let cut = |script: Value| with(scenario, "script", Some(script));
    found.extend(without_some(script).map(cut));
    found.extend(brought_to_front(script).map(cut));
    for (at, op) in script.iter().enumerate() {
        found.extend(smaller_op(op).map(|op| cut(with_item(script, at, op))));
    }
    found.extend(smaller_handlers(scenario));
    if scenario.field("setup").is_some() {
        found.push(with(scenario, "setup", None));
    }
    found.retain(is_sound);
    found
}

/// Whether operations that run at the same time still begin apart, and are waited for: without that,
/// chance would decide what is recorded.
fn is_sound(scenario: &Value) -> bool {
    let script = scenario.list("script");
    script.iter().enumerate().all(|(at, op)| {
        if op.text("op") != "spawn" {
            return true;
        }
        let after = &script[at + 1..];
        let apart = after
            .first()
            .is_some_and(|next| next.text("op") == "sleep_ms");
        let joins =
            |other: &Value| other.text("op") == "join" && other.text("task") == op.text("as");
        apart && after.iter().any(joins)
    })
}

/// How much there is to read: what a cut must make less.
pub(super) fn size(value: &Value) -> usize {
    match value {
        Value::List(items) => 1 + items.iter().map(size).sum::<usize>(),
        Value::Map(entries) => {
            1 + entries
                .iter()
                .map(|(_, value)| 1 + size(value))
                .sum::<usize>()
        }
        Value::Text(text) if &**text == "sync" => 0,
        _ => 1,
    }
}

/// Without half of the items, then a quarter, and at last without one.
fn without_some(items: &[Value]) -> impl Iterator<Item = Value> + use<'_> {
    let halves = std::iter::successors(Some(items.len() / 2), |length| Some(length / 2));
    let lengths = halves.take_while(|length| *length > 0);
    let lengths = lengths.chain((items.len() == 1).then_some(1));
    lengths.flat_map(move |length| {
        let starts = 0..=items.len() - length;
        starts.map(move |start| without_range(items, start..start + length))
    })
}

/// What runs in the background, by itself; when it is cancelled there, it is cancelled here.
fn brought_to_front(script: &[Value]) -> impl Iterator<Item = Value> + use<'_> {
    let spawns = script.iter().enumerate();
    let spawns = spawns.filter(|(_, op)| op.text("op") == "spawn");
    spawns.map(|(at, spawn)| {
        let name = spawn.text("as");
        let mut done = spawn.field("do").cloned().unwrap_or_default();
        if let [pause, cancel, ..] = &script[at + 1..]
            && let (Some(after), "cancel") = (pause.field("ms"), cancel.text("op"))
        {
            done = with(&done, "cancel_emitter_after_ms", Some(after.clone()));
        }
        let rest = script.iter().enumerate();
        let rest = rest.filter(|(_, op)| op.text("task") != name);
        rest.map(|(index, op)| {
            if index == at {
                done.clone()
            } else {
                op.clone()
            }
        })
        .collect::<Vec<_>>()
        .into()
    })
}

fn smaller_op(op: &Value) -> impl Iterator<Item = Value> + use<'_> {
    let name = op.text("op");
    let optional = OPTIONAL
        .iter()
        .filter(move |(of, _)| *of == name || of.is_empty());
    let optional = optional.flat_map(|(_, fields)| fields.iter());
    let without = optional
        .filter(|field| op.field(field).is_some())
        .map(|field| with(op, field, None));
    let lists = LISTS.iter().flat_map(move |field| {
        let items = op.list(field);
        let shorter = (0..items.len()).map(move |at| without_range(items, at..at + 1));
        shorter.map(move |items| with(op, field, Some(items)))
    });
    let inner = op.field("do").into_iter().flat_map(|done| {
        let smaller: Vec<_> = smaller_op(done).collect();
        smaller
    });
    let inner = inner.map(move |done| with(op, "do", Some(done)));
    without.chain(lists).chain(inner)
}

fn smaller_handlers(scenario: &Value) -> Vec<Value> {
    let handlers = scenario.field("handlers").cloned().unwrap_or_default();
    let mut found = Vec::new();
    for (name, handler) in handlers.fields() {
        let mut changed = Vec::new();
        if handler.text("form") != "sync" && !waits(handler) {
            changed.push(with(handler, "form", Some(Value::text("sync"))));
        }
        if handler.field("call_steps").is_some() {
            changed.push(with(handler, "call_steps", None));
        }
        for field in ["steps", "call_steps"] {
            let steps = smaller_steps(handler.list(field));
            changed.extend(
                steps
                    .into_iter()
                    .map(|steps| with(handler, field, Some(steps))),
            );
        }
        found.extend(changed.into_iter().map(|handler| {
            let handlers = with(&handlers, name, Some(handler));
            with(scenario, "handlers", Some(handlers))
        }));
    }
    found
}

/// Whether steps of a handler can only be awaited. A sync one may wait where it is offloaded; which
/// profiles do that is nothing to know here.
fn waits(handler: &Value) -> bool {
    let mut steps = handler.list("steps").iter();
    steps.any(|step| step.field("sleep_ms").is_some() || step.field("try").is_some())
}

fn smaller_steps(steps: &[Value]) -> Vec<Value> {
    let mut found: Vec<_> = without_some(steps).collect();
    for (at, step) in steps.iter().enumerate() {
        if let Some(Value::List(tried)) = step.field("try") {
            let unwrapped = steps[..at]
                .iter()
                .chain(tried.iter())
                .chain(&steps[at + 1..]);
            found.push(unwrapped.cloned().collect::<Vec<_>>().into());
        }
        let mut replaced: Vec<Value> = Vec::new();
        for field in NESTED {
            let inner = smaller_steps(step.list(field));
            replaced.extend(
                inner
                    .into_iter()
                    .map(|inner| with(step, field, Some(inner))),
            );
        }
        for field in ["propagate", "reraise"] {
            if step.field(field).is_some() {
                replaced.push(with(step, field, None));
            }
        }
        found.extend(replaced.into_iter().map(|step| with_item(steps, at, step)));
    }
    found
}
