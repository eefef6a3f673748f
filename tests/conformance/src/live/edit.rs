//! A scenario with something changed or left out.

use triplane::legacy::Value;

use crate::fields::Fields as _;

/// The value with this field set, or left out.
pub(super) fn with(value: &Value, name: &str, field: Option<Value>) -> Value {
    let entries = value.fields().iter();
    let mut entries: Vec<_> = entries
        .filter(|(other, _)| other != name)
        .cloned()
        .collect();
    if let Some(field) = field {
        let before = value.fields().iter().position(|(other, _)| other == name);
        let at = before.unwrap_or(entries.len());
        entries.insert(at, (name.to_owned(), field));
    }
    entries.into()
}

/// The list without this range.
pub(super) fn without_range(items: &[Value], range: std::ops::Range<usize>) -> Value {
    let items = items.iter().enumerate();
    let kept = items.filter(|(index, _)| !range.contains(index));
    kept.map(|(_, item)| item.clone())
        .collect::<Vec<_>>()
        .into()
}

/// The list with one item replaced.
pub(super) fn with_item(items: &[Value], at: usize, item: Value) -> Value {
    let mut items = items.to_vec();
    items[at] = item;
    items.into()
}

/// The script without the operations of this name.
pub(super) fn without_ops(scenario: &Value, name: &str) -> Value {
    let script = scenario.list("script").iter();
    let kept = script.filter(|op| op.text("op") != name).cloned();
    with(scenario, "script", Some(kept.collect::<Vec<_>>().into()))
}

/// The scenario without a handler, and without what names it.
pub(super) fn without_handler(scenario: &Value, name: &str) -> Value {
    let handlers = scenario.field("handlers").cloned().unwrap_or_default();
    let handlers = with(&handlers, name, None);
    let without = with(scenario, "handlers", Some(handlers));
    without_namesakes(&without, name)
}

/// Leaves out every operation and step, at any depth, that names the handler.
fn without_namesakes(value: &Value, handler: &str) -> Value {
    let names = |value: &Value| {
        let of = |op: Option<&Value>| op.is_some_and(|op| op.text("handler") == handler);
        of(Some(value)) || of(value.field("do"))
    };
    match value {
        Value::List(items) => {
            let kept = items.iter().filter(|item| !names(item));
            kept.map(|item| without_namesakes(item, handler))
                .collect::<Vec<_>>()
                .into()
        }
        Value::Map(entries) => {
            let entries = entries.iter();
            entries
                .map(|(name, value)| (name.clone(), without_namesakes(value, handler)))
                .collect::<Vec<_>>()
                .into()
        }
        plain => plain.clone(),
    }
}
