//! What a user adds to the shipped policy, as it is written down.

use std::collections::HashSet;

use serde::{Deserialize, Serialize};

/// The version of the format that this release reads.
pub const REDACTION_VERSION: u32 = 1;

/// How many shapes a file may declare.
const SHAPES_MAX: usize = 256;

/// The shortest literal that may announce a shape, in bytes: a shorter one is in every text.
const ANCHOR_BYTES_MIN: usize = 3;

/// What a user adds to the shipped redaction policy.
///
/// Fields and shapes come on top of those that come with triplane; `except` takes shipped shapes
/// out. A list under `tool` is in force for the facts of the tools whose names match, on top of
/// the others.
///
/// ```
/// use triplane::redaction::{Redaction, RedactionPolicy};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let policy: RedactionPolicy = serde_json::from_str(
///     r#"{
///         "version": 1,
///         "fields": ["pin", "*_credential"],
///         "shape": [{"id": "acme.token", "anchors": ["acme_"], "pattern": "acme_[a-z0-9]{12}"}],
///         "tool": [{"name": "mcp__vault__*", "fields": ["tool_response"]}]
///     }"#,
/// )?;
/// let redaction = Redaction::with(&policy)?;
/// assert_eq!(
///     redaction.text("with acme_0123456789ab"),
///     "with [redacted:acme.token]"
/// );
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RedactionPolicy {
    /// The version of the format: 1.
    pub version: u32,
    /// Names of fields whose whole value is a secret. Case, `_`, `-`, `.` and spaces do not count;
    /// `*` at the beginning stands for any beginning.
    #[serde(default)]
    pub fields: Vec<String>,
    /// Further token shapes.
    #[serde(default)]
    pub shape: Vec<DeclaredShape>,
    /// Ids of shipped shapes that are not looked for.
    #[serde(default)]
    pub except: Vec<String>,
    /// What is different for some tools.
    #[serde(default)]
    pub tool: Vec<ToolRedaction>,
}

/// A token shape that a user declares.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DeclaredShape {
    /// What stands in place of the secret, `[redacted:ID]`: lower-case letters, digits, `.`, `-`.
    pub id: String,
    /// Literals of at least three ASCII characters. A text without any of them is not looked at.
    pub anchors: Vec<String>,
    /// A regular expression whose classes are ASCII. The first of its groups that matched is what
    /// is hidden; without groups, the whole match. It begins at most 256 bytes before its literal.
    pub pattern: String,
}

/// What is different for some tools.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolRedaction {
    /// The tool's name, or a pattern with `*` for any run of characters. Case does not count.
    pub name: String,
    /// Further fields, for example `tool_response` for all that the tool answers.
    #[serde(default)]
    pub fields: Vec<String>,
    /// Ids of shapes, shipped or declared, that are not looked for.
    #[serde(default)]
    pub except: Vec<String>,
}

/// Why a redaction policy is refused. Every message names the place in the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedactionRefused {
    /// The file is of another version of the format.
    #[error("version: {found} is not {REDACTION_VERSION}, the version this release reads")]
    Version {
        /// The version that the file names.
        found: u32,
    },
    /// A name has nothing to compare, or too much.
    #[error("{place}: {name:?} is no name")]
    Name {
        /// The field, for example `fields[2]`.
        place: String,
        /// The refused name.
        name: String,
    },
    /// An id has other characters than those an id may have.
    #[error("{place}: {id:?} is no id; lower-case letters, digits, `.` and `-` make one")]
    Id {
        /// The field.
        place: String,
        /// The refused id.
        id: String,
    },
    /// Two shapes have one id.
    #[error("{place}: the id {id:?} is taken by another shape")]
    DuplicateId {
        /// The field.
        place: String,
        /// The id.
        id: String,
    },
    /// A shape that is to be left out is not there.
    #[error("{place}: there is no shape {id:?}")]
    UnknownShape {
        /// The field.
        place: String,
        /// The id.
        id: String,
    },
    /// A shape without a literal, or with one that is too short or not ASCII.
    #[error("{place}: literals of at least {ANCHOR_BYTES_MIN} ASCII characters are wanted")]
    Anchors {
        /// The field.
        place: String,
    },
    /// A pattern is not a regular expression, too large a one, or one that matches nothing.
    #[error("{place}: {error}")]
    Pattern {
        /// The field.
        place: String,
        /// What is wrong with it.
        error: String,
    },
    /// More shapes than a text can be searched for.
    #[error("shape: {count} shapes are more than {SHAPES_MAX}")]
    TooMany {
        /// How many there are.
        count: usize,
    },
}

impl RedactionPolicy {
    /// Checks what does not need the shapes to be compiled.
    pub(crate) fn check(&self, shipped: &[&str]) -> Result<(), RedactionRefused> {
        if self.version != REDACTION_VERSION {
            return Err(RedactionRefused::Version {
                found: self.version,
            });
        }
        if self.shape.len() > SHAPES_MAX {
            return Err(RedactionRefused::TooMany {
                count: self.shape.len(),
            });
        }
        let mut ids: HashSet<&str> = shipped.iter().copied().collect();
        // The id of what is hidden because of its field.
        ids.insert("field");
        for (n, shape) in self.shape.iter().enumerate() {
            shape.check(&format!("shape[{n}]"))?;
            if !ids.insert(&shape.id) {
                return Err(RedactionRefused::DuplicateId {
                    place: format!("shape[{n}].id"),
                    id: shape.id.clone(),
                });
            }
        }
        let known = |place: &str, except: &[String]| {
            let unknown = except
                .iter()
                .enumerate()
                .find(|(_, id)| !ids.contains(id.as_str()));
            unknown.map_or(Ok(()), |(n, id)| {
                Err(RedactionRefused::UnknownShape {
                    place: format!("{place}[{n}]"),
                    id: id.clone(),
                })
            })
        };
        known("except", &self.except)?;
        for (n, tool) in self.tool.iter().enumerate() {
            if tool.name.is_empty() {
                return Err(RedactionRefused::Name {
                    place: format!("tool[{n}].name"),
                    name: String::new(),
                });
            }
            known(&format!("tool[{n}].except"), &tool.except)?;
        }
        Ok(())
    }
}

impl DeclaredShape {
    fn check(&self, place: &str) -> Result<(), RedactionRefused> {
        let lawful = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'.' | b'-');
        if self.id.is_empty() || self.id.len() > 64 || !self.id.bytes().all(lawful) {
            return Err(RedactionRefused::Id {
                place: format!("{place}.id"),
                id: self.id.clone(),
            });
        }
        let short = |anchor: &String| anchor.len() < ANCHOR_BYTES_MIN || !anchor.is_ascii();
        if self.anchors.is_empty() || self.anchors.iter().any(short) {
            return Err(RedactionRefused::Anchors {
                place: format!("{place}.anchors"),
            });
        }
        Ok(())
    }
}
