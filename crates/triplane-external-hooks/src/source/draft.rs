//! A hook event as it is put together from the pieces of an entry.

use serde_json::Value;

use crate::wire::{HookEvent, Node, Unreadable};

/// An event in the making: a JSON object that is not closed yet.
#[derive(Debug)]
pub(crate) struct Draft {
    text: String,
    digest: [u8; 32],
}

impl Draft {
    pub(crate) fn new(digest: [u8; 32]) -> Self {
        let text = String::new();
        Self { text, digest }
    }

    /// Adds a field whose value stands in the entry; an absent one is left out.
    pub(crate) fn raw(mut self, key: &str, node: Option<&Node<'_>>) -> Self {
        if let Some(node) = node {
            self.key(key);
            self.text.push_str(node.raw);
        }
        self
    }

    pub(crate) fn text(mut self, key: &str, value: &str) -> Self {
        self.key(key);
        self.text.push_str(&Value::from(value).to_string());
        self
    }

    fn key(&mut self, key: &str) {
        self.text.push(if self.text.is_empty() { '{' } else { ',' });
        self.text.push('"');
        self.text.push_str(key);
        self.text.push_str("\":");
    }

    /// How long it is by now.
    pub(crate) fn bytes(&self) -> usize {
        self.text.len()
    }

    /// Closes the object and reads it like any other event.
    pub(crate) fn read(mut self) -> Result<HookEvent, Unreadable> {
        self.text.push('}');
        HookEvent::from_entry(&self.text, self.digest)
    }
}
