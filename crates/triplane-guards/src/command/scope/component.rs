//! The components of a path, as far as the text tells them.

use std::borrow::Cow;

use crate::command::word::{Part, Word};

/// One component of a path whose name may be a pattern.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Component<'a> {
    pub(crate) text: Cow<'a, str>,
    pub(crate) pattern: bool,
}

/// The components of a path that is known.
pub(crate) fn split(path: &str) -> impl Iterator<Item = Component<'_>> {
    path.split('/')
        .filter(|name| !name.is_empty())
        .map(|name| Component {
            text: Cow::Borrowed(name),
            pattern: false,
        })
}

/// The components that are known, whether they start at the root, and whether they are all.
pub(crate) fn components(word: &Word) -> (Vec<Component<'_>>, bool, bool) {
    if let Some(known) = word.literal() {
        return (split(known).collect(), known.starts_with('/'), true);
    }
    let mut components = Vec::new();
    let mut current = Component::default();
    let absolute = word.prefix().starts_with('/');
    for part in &word.parts {
        match part {
            Part::Text(text) => {
                for (nth, piece) in text.split('/').enumerate() {
                    if nth > 0 && !current.text.is_empty() {
                        components.push(std::mem::take(&mut current));
                    }
                    if current.pattern {
                        escape_into(current.text.to_mut(), piece);
                    } else {
                        current.text.to_mut().push_str(piece);
                    }
                }
            }
            Part::Glob(glob) => {
                if !current.pattern {
                    let text = std::mem::take(&mut current.text);
                    escape_into(current.text.to_mut(), &text);
                    current.pattern = true;
                }
                current.text.to_mut().push_str(glob);
            }
            // A name of its own: like nothing that is protected.
            Part::Token => current.text.to_mut().push('\u{1}'),
            Part::Below => {
                if !current.text.is_empty() {
                    components.push(std::mem::take(&mut current));
                }
                components.push(Component {
                    text: Cow::Borrowed("\u{1}"),
                    pattern: false,
                });
            }
            Part::Unknown => return (components, absolute, false),
        }
    }
    if !current.text.is_empty() {
        components.push(current);
    }
    (components, absolute, true)
}

fn escape_into(pattern: &mut String, text: &str) {
    for c in text.chars() {
        if matches!(c, '*' | '?' | '[' | '\\') {
            pattern.push('\\');
        }
        pattern.push(c);
    }
}
