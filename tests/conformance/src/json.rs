//! Values as scenarios write them, and as traces have them.

use std::sync::Arc;

use serde_json::{Map, Value as Json, json};
use triplane::legacy::{Message, Raised, Record, Signal, TypeName, Value};
use triplane_signals::SignalClass;

use crate::fault;
use crate::fields::Fields as _;

pub(crate) fn class(name: &str) -> Option<SignalClass> {
    SignalClass::ALL
        .iter()
        .copied()
        .find(|class| class.as_str() == name)
}

/// The value that a scenario writes.
pub(crate) fn payload(written: &Value) -> Value {
    match written {
        Value::List(items) => items.iter().map(payload).collect::<Vec<_>>().into(),
        Value::Map(entries) => {
            let rest = |left_out: &[&str]| -> Vec<(String, Value)> {
                let kept = entries
                    .iter()
                    .filter(|(name, _)| !left_out.contains(&name.as_str()));
                kept.map(|(name, value)| (name.clone(), payload(value)))
                    .collect()
            };
            if written.field("$type").is_some() {
                record(written.text("$type"), rest(&["$type"]))
            } else if written.field("$signal").is_some() {
                Value::Signal(Arc::new(signal(written)))
            } else if let Some(spec) = written.field("$error") {
                Value::Error(Raised::from(fault::make(spec)))
            } else {
                rest(&[]).into()
            }
        }
        plain => plain.clone(),
    }
}

fn record(type_name: &str, fields: Vec<(String, Value)>) -> Value {
    let supertypes = match type_name {
        "beta" => vec![TypeName::from_static("alpha")],
        _ => Vec::new(),
    };
    Value::from(Record {
        type_name: TypeName::new(type_name),
        supertypes,
        fields,
    })
}

pub(crate) fn signal(written: &Value) -> Signal {
    let class = class(written.text("$signal")).unwrap_or(SignalClass::Signal);
    let mut signal = Signal::new(class);
    for (name, value) in written.fields() {
        match name.as_str() {
            "$signal" => {}
            "role" => signal.emitter_role = Some(written.text("role").to_owned()),
            "data" => signal.data = payload(value),
            _ => signal.fields.push((name.clone(), payload(value))),
        }
    }
    signal
}

/// The events of a broadcaster, and the names of their classes in the old package.
pub(crate) static EVENTS: [(TypeName, &str); 3] = [
    (TypeName::from_static("oracle_event"), "OracleEvent"),
    (TypeName::from_static("oracle_sub_event"), "OracleSubEvent"),
    (TypeName::from_static("oracle_other_event"), "Event"),
];

/// What a trace shows by the name of its class only.
pub(crate) const OPAQUE: &str = "$opaque";
/// What a trace shows as a message.
pub(crate) const MESSAGE: &str = "$message";

/// A value that is no value of a legacy name: it is there to be returned and shown.
pub(crate) fn shown_as(word: &'static str, name: &str, text: Value) -> Value {
    Value::from(Record {
        type_name: TypeName::from_static(word),
        supertypes: Vec::new(),
        fields: vec![
            ("name".to_owned(), Value::text(name)),
            ("text".to_owned(), text),
        ],
    })
}

/// The fields of a signal that a trace shows when they are not empty.
const SHOWN: [&str; 5] = ["op_id", "name", "run_id", "schedule_id", "reason_code"];

/// A value as a trace has it.
pub(crate) fn normal(value: &Value) -> Json {
    match value {
        Value::List(items) => items.iter().map(normal).collect(),
        Value::Map(entries) => object(entries),
        Value::Record(record) if EVENTS.iter().any(|(own, _)| *own == record.type_name) => {
            let name = EVENTS.iter().find(|(own, _)| *own == record.type_name);
            json!({"$opaque": name.map(|(_, name)| name)})
        }
        Value::Record(record) if [OPAQUE, MESSAGE].contains(&record.type_name.as_str()) => {
            let (name, text) = (value.field("name"), value.field("text"));
            let mut shown = Map::new();
            shown.insert(record.type_name.to_string(), normal(name.unwrap_or(value)));
            if let Some(text) = text.filter(|text| text.is_truthy()) {
                shown.insert("text".to_owned(), normal(text));
            }
            Json::Object(shown)
        }
        Value::Record(record) => {
            let mut shown = match object(&record.fields) {
                Json::Object(fields) => fields,
                _ => Map::new(),
            };
            shown.retain(|_, value| !value.is_null());
            shown.insert("$type".to_owned(), json!(record.type_name.as_str()));
            Json::Object(shown)
        }
        Value::Signal(signal) => normal_signal(signal),
        Value::Error(raised) => json!({"$error": fault::describe_raised(raised)}),
        plain => plain.to_json(),
    }
}

fn object(entries: &[(String, Value)]) -> Json {
    let entries = entries
        .iter()
        .map(|(name, value)| (name.clone(), normal(value)));
    Json::Object(entries.collect())
}

pub(crate) fn normal_signal(signal: &Signal) -> Json {
    if signal.class == SignalClass::HookSignal {
        let kwargs = signal.field("kwargs").cloned().unwrap_or_default();
        let mut shown = normal(&kwargs);
        if let Some(Value::Text(text)) = kwargs.field("exception") {
            shown["exception"] = fault::describe_text(text);
        }
        return json!({"$signal": "hook_signal", "point": signal.text("point"), "kwargs": shown});
    }
    let mut shown = json!({"$signal": signal.class.as_str(), "data": normal(&signal.data)});
    if let Some(role) = &signal.emitter_role {
        shown["role"] = json!(role);
    }
    for name in SHOWN {
        if let Some(value) = signal.field(name)
            && value.is_truthy()
        {
            shown[name] = normal(value);
        }
    }
    shown
}

pub(crate) fn normal_message(message: &Message) -> Json {
    let mut shown = json!({"$message": message.kind.as_str()});
    if message.content.is_truthy() {
        shown["text"] = normal(&message.content);
    }
    shown
}
