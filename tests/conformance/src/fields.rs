//! Reading the fields of a scenario.

use triplane::legacy::Value;

/// Fields of a scenario.
pub(crate) trait Fields {
    /// The text of a field; empty when there is none.
    fn text(&self, name: &str) -> &str;
    /// The number of a field.
    fn number(&self, name: &str) -> Option<u64>;
    /// The items of a field; empty when there is none.
    fn list(&self, name: &str) -> &[Value];
    /// Whether the field is there and true.
    fn flag(&self, name: &str) -> bool;
}

impl Fields for Value {
    fn text(&self, name: &str) -> &str {
        match self.field(name) {
            Some(Self::Text(text)) => text,
            _ => "",
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        match self.field(name) {
            Some(Self::Integer(number)) => u64::try_from(*number).ok(),
            _ => None,
        }
    }

    fn list(&self, name: &str) -> &[Value] {
        match self.field(name) {
            Some(Self::List(items)) => items,
            _ => &[],
        }
    }

    fn flag(&self, name: &str) -> bool {
        self.field(name).is_some_and(Self::is_truthy)
    }
}

/// The texts of a list.
pub(crate) fn texts(items: &[Value]) -> Vec<String> {
    let texts = items.iter().filter_map(|item| match item {
        Value::Text(text) => Some(text.to_string()),
        _ => None,
    });
    texts.collect()
}
