//! Reaching into the arguments of a call, and reading what stands there as text.

use std::borrow::Cow;

use serde_json::Value;

/// A dotted path into a call's arguments, for example `command` or `edits.0.path`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ArgumentPath {
    pointer: String,
}

impl ArgumentPath {
    /// `None` when the path is empty or has an empty step.
    pub(crate) fn new(dotted: &str) -> Option<Self> {
        let mut pointer = String::with_capacity(dotted.len() + 1);
        for step in dotted.split('.') {
            if step.is_empty() {
                return None;
            }
            pointer.push('/');
            pointer.push_str(&step.replace('~', "~0").replace('/', "~1"));
        }
        Some(Self { pointer })
    }

    pub(crate) fn get<'a>(&self, arguments: &'a Value) -> Option<&'a Value> {
        arguments.pointer(&self.pointer)
    }

    pub(crate) fn get_mut<'a>(&self, arguments: &'a mut Value) -> Option<&'a mut Value> {
        arguments.pointer_mut(&self.pointer)
    }
}

/// What a pattern is held against: a string as it is, an array of strings as one line (a command
/// given as a vector), anything else as its JSON text.
pub(crate) fn text_of(value: &Value) -> Cow<'_, str> {
    match value {
        Value::String(text) => Cow::Borrowed(text),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            Cow::Owned(words.join(" "))
        }
        other => Cow::Owned(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(path: &str, wanted: Option<&str>) {
        let arguments =
            json!({"command": "ls", "argv": ["rm", "-r"], "o": {"n": [1, {"x/y": true}]}});
        let path = ArgumentPath::new(path).expect("a path");
        assert_eq!(path.get(&arguments).map(text_of).as_deref(), wanted);
    }

    #[test]
    fn a_path_reaches_into_objects_and_arrays() {
        check("command", Some("ls"));
        check("argv", Some("rm -r"));
        check("o.n.0", Some("1"));
        check("o.n.1.x/y", Some("true"));
        check("o", Some(r#"{"n":[1,{"x/y":true}]}"#));
        check("absent", None);
    }

    #[test]
    fn a_path_with_an_empty_step_is_refused() {
        for dotted in ["", ".", "a..b", "a."] {
            assert_eq!(ArgumentPath::new(dotted), None, "{dotted:?}");
        }
    }
}
