//! A scenario as text: its fields in their order, and a line for each handler and each operation.

use std::fmt::Write as _;

use serde_json::json;
use triplane::legacy::Value;

/// A value on one line.
pub(crate) fn line(value: &Value) -> String {
    let mut text = String::new();
    write_line(value, &mut text);
    text
}

/// A scenario as its file has it.
pub(crate) fn file(scenario: &Value) -> String {
    let fields = scenario.fields().iter().map(|(name, value)| {
        let value = match value {
            Value::Map(entries) if name == "handlers" && !entries.is_empty() => {
                let entries = entries
                    .iter()
                    .map(|(name, value)| entry(name, &line(value)));
                block('{', entries, '}')
            }
            Value::List(items) if name == "script" && !items.is_empty() => {
                block('[', items.iter().map(line), ']')
            }
            value => line(value),
        };
        format!(" {}", entry(name, &value))
    });
    let fields: Vec<_> = fields.collect();
    format!("{{\n{}\n}}\n", fields.join(",\n"))
}

fn block(open: char, lines: impl Iterator<Item = String>, close: char) -> String {
    let lines: Vec<_> = lines.map(|line| format!("  {line}")).collect();
    format!("{open}\n{}\n {close}", lines.join(",\n"))
}

fn entry(name: &str, value: &str) -> String {
    format!("{}: {value}", json!(name))
}

fn write_line(value: &Value, text: &mut String) {
    match value {
        Value::List(items) => {
            text.push('[');
            for (index, item) in items.iter().enumerate() {
                text.push_str(if index == 0 { "" } else { ", " });
                write_line(item, text);
            }
            text.push(']');
        }
        Value::Map(entries) => {
            text.push('{');
            for (index, (name, value)) in entries.iter().enumerate() {
                let comma = if index == 0 { "" } else { ", " };
                let _ = write!(text, "{comma}{}: ", json!(name));
                write_line(value, text);
            }
            text.push('}');
        }
        plain => {
            let _ = write!(text, "{}", plain.to_json());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_reads_back_in_the_same_order() {
        let text = "{\n \"id\": \"p/x\",\n \"handlers\": {\n  \"b\": {\"steps\": [{\"return\": 1.5}]},\n  \
                    \"a\": {}\n },\n \"script\": [\n  {\"op\": \"o\", \"z\": null, \"a\": \"\\\"\"}\n ]\n}\n";
        let read: Value = serde_json::from_str(text).unwrap();
        assert_eq!(file(&read), text);
    }
}
