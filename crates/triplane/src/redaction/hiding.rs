//! The policy in force, and the one pass over all that is kept of a fact.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde_json::value::{RawValue, to_raw_value};
use triplane_interception::ToolPattern;
use triplane_kernel::declare::Digest;
use triplane_state::commit::{Judgement, Rewrite};

use crate::redaction::declaration::{REDACTION_VERSION, RedactionPolicy, RedactionRefused};
use crate::redaction::field::{self, FieldNames, is_no_secret};
use crate::redaction::report::{Account, Looked};
use crate::redaction::scan::{Found, Scanner, Scratch, merge};
use crate::redaction::shape::{OPENING, SHIPPED, SHIPPED_TEXT, Shape};
use crate::redaction::walk::{self, Watch};

/// How many secrets of a fact are remembered, so that a reason that quotes one is hidden too.
const KNOWN_MAX: usize = 64;

/// The lengths, in bytes, of secrets that are remembered: a shorter one is part of many words.
const KNOWN_BYTES: std::ops::RangeInclusive<usize> = 6..=4096;

/// The id of a secret that was found elsewhere in the same fact.
const QUOTED: &str = "quoted";

/// What is hidden before anything is stored, signalled or sent.
///
/// Cheap to clone. [`Redaction::shipped`] is what a runtime has if it is told nothing else.
#[derive(Clone)]
pub struct Redaction {
    in_force: Option<Arc<InForce>>,
}

struct InForce {
    scanner: Scanner,
    fields: FieldNames,
    tools: Vec<ForTool>,
    digest: Arc<str>,
}

struct ForTool {
    pattern: ToolPattern,
    fields: FieldNames,
    off: Vec<usize>,
}

impl Redaction {
    /// The policy that comes with triplane.
    pub fn shipped() -> Self {
        let nothing = RedactionPolicy {
            version: REDACTION_VERSION,
            fields: Vec::new(),
            shape: Vec::new(),
            except: Vec::new(),
            tool: Vec::new(),
        };
        match Self::with(&nothing) {
            Ok(shipped) => shipped,
            Err(refused) => unreachable!("nothing was added to the shipped policy: {refused}"),
        }
    }

    /// The policy that comes with triplane, and `policy` on top of it.
    ///
    /// # Errors
    ///
    /// [`RedactionRefused`] with the place of the first mistake.
    pub fn with(policy: &RedactionPolicy) -> Result<Self, RedactionRefused> {
        let shipped: Vec<&str> = SHIPPED.iter().map(|shape| shape.id).collect();
        policy.check(&shipped)?;
        let wanted = SHIPPED
            .iter()
            .filter(|shape| !policy.except.iter().any(|id| id == shape.id));
        let mut shapes: Vec<Shape> = wanted.map(Shape::shipped).collect();
        for (n, shape) in policy.shape.iter().enumerate() {
            let compiled = Shape::declared(
                shape.id.clone(),
                shape.anchors.clone(),
                shape.pattern.clone(),
            );
            shapes.push(compiled.map_err(|error| RedactionRefused::Pattern {
                place: format!("shape[{n}].pattern"),
                error,
            })?);
        }
        let scanner = Scanner::new(shapes);
        let mut fields = FieldNames::default();
        for name in field::SHIPPED {
            fields.add(name);
        }
        add_fields(&mut fields, &policy.fields, "fields")?;
        let mut tools = Vec::with_capacity(policy.tool.len());
        for (n, tool) in policy.tool.iter().enumerate() {
            let mut fields = FieldNames::default();
            add_fields(&mut fields, &tool.fields, &format!("tool[{n}].fields"))?;
            tools.push(ForTool {
                pattern: ToolPattern::new(&tool.name),
                fields,
                off: tool
                    .except
                    .iter()
                    .filter_map(|id| scanner.position(id))
                    .collect(),
            });
        }
        let added = match serde_json::to_vec(policy) {
            Ok(added) => added,
            Err(error) => unreachable!("names and patterns are JSON: {error}"),
        };
        let whole = [
            SHIPPED_TEXT.as_bytes(),
            field::SHIPPED.join("\n").as_bytes(),
            &added,
        ]
        .join(&0);
        Ok(Self {
            in_force: Some(Arc::new(InForce {
                scanner,
                fields,
                tools,
                digest: Digest::of(&whole).to_string().into(),
            })),
        })
    }

    /// Hides nothing: for measurements. Every row says so.
    pub const fn off() -> Self {
        Self { in_force: None }
    }

    /// The digest of all that is in force; `None` when redaction is off.
    ///
    /// It is over the shipped shapes and fields and over what a user added, so two releases or two
    /// files have two digests.
    pub fn digest(&self) -> Option<&str> {
        self.in_force.as_deref().map(|it| &*it.digest)
    }

    /// `text` without secrets, for what is shown to people.
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let mut hiding = Hiding::new(self, None);
        let found = hiding.secrets(text.as_bytes());
        if found.is_empty() {
            return Cow::Borrowed(text);
        }
        Cow::Owned(hiding.without(text, &found, ""))
    }
}

fn add_fields(
    names: &mut FieldNames,
    added: &[String],
    place: &str,
) -> Result<(), RedactionRefused> {
    match added.iter().enumerate().find(|(_, name)| !names.add(name)) {
        None => Ok(()),
        Some((n, name)) => Err(RedactionRefused::Name {
            place: format!("{place}[{n}]"),
            name: name.clone(),
        }),
    }
}

impl Default for Redaction {
    fn default() -> Self {
        Self::shipped()
    }
}

impl fmt::Debug for Redaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Redaction")
            .field("digest", &self.digest())
            .finish_non_exhaustive()
    }
}

/// One pass over all that is kept of one fact.
///
/// What is found in the first texts is remembered, so that a reason or an error that quotes it is
/// hidden too, whole or cut off at its end.
pub(crate) struct Hiding<'r> {
    in_force: Option<&'r InForce>,
    tools: Vec<&'r ForTool>,
    off: Vec<usize>,
    scratch: Scratch,
    folded: Vec<u8>,
    known: Vec<Vec<u8>>,
    /// Whether the text at hand may quote what is known.
    quotes: bool,
    looked: Option<Looked>,
}

impl<'r> Hiding<'r> {
    /// Begins with a fact about `tool`.
    pub(crate) fn new(redaction: &'r Redaction, tool: Option<&str>) -> Self {
        let in_force = redaction.in_force.as_deref();
        let all = in_force.map_or(&[][..], |it| &it.tools);
        let tools: Vec<&ForTool> = all
            .iter()
            .filter(|it| tool.is_some_and(|tool| it.pattern.matches(tool)))
            .collect();
        Self {
            in_force,
            off: tools
                .iter()
                .flat_map(|tool| tool.off.iter().copied())
                .collect(),
            tools,
            scratch: Scratch::default(),
            folded: Vec::new(),
            known: Vec::new(),
            quotes: false,
            looked: in_force.map(|it| Looked::new(REDACTION_VERSION, Arc::clone(&it.digest))),
        }
    }

    /// A JSON value that stands at `at`, in the field of the name with which `at` ends.
    pub(crate) fn json(&mut self, at: &str, value: Box<RawValue>) -> Box<RawValue> {
        let field = at.rsplit('/').next().unwrap_or_default();
        self.json_in(at, field, value)
    }

    /// A text of this process about the fact, which may quote what was hidden before.
    pub(crate) fn text(&mut self, at: &str, text: String) -> String {
        self.quotes = true;
        let found = self.secrets(text.as_bytes());
        self.quotes = false;
        if found.is_empty() {
            return text;
        }
        self.without(&text, &found, at)
    }

    /// How the fact was judged.
    pub(crate) fn judgement(&mut self, judgement: Judgement) -> Judgement {
        let Judgement {
            reason,
            notes,
            rewrite,
            ..
        } = judgement;
        // The arguments first: a reason may quote them.
        let rewrite = rewrite.map(|Rewrite { before, after }| Rewrite {
            before: self.json_in("/judgement/arguments_before", "tool_input", before),
            after: self.json_in("/judgement/arguments_after", "tool_input", after),
        });
        let reason = reason.map(|reason| self.text("/judgement/reason", reason));
        let notes = notes.map(|notes| {
            self.quotes = true;
            let hidden = walk::hide(&notes, "/judgement/notes", "notes", self);
            self.quotes = false;
            hidden.unwrap_or(notes)
        });
        Judgement {
            reason,
            notes,
            rewrite,
            ..judgement
        }
    }

    /// What the row says of all this.
    pub(crate) fn account(self) -> Account {
        self.looked.map_or(Account::Off("off"), Account::Looked)
    }

    fn json_in(&mut self, at: &str, field: &str, value: Box<RawValue>) -> Box<RawValue> {
        if self.in_force.is_none() {
            return value;
        }
        match walk::hide(value.get(), at, field, self) {
            None => value,
            // What is no JSON any more cannot be kept; better none of it than all of it.
            Some(hidden) => RawValue::from_string(hidden).unwrap_or_else(|_| {
                to_raw_value("[redacted:unreadable]").expect("a string is JSON")
            }),
        }
    }

    /// `text` without what was found in it.
    fn without(&mut self, text: &str, found: &[Found], at: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut copied = 0;
        for found in found {
            let id = self.id(found);
            let start = text.floor_char_boundary(found.span.start).max(copied);
            out.push_str(&text[copied..start]);
            out.push_str(OPENING);
            out.push_str(&id);
            out.push(']');
            copied = text.ceil_char_boundary(found.span.end);
            self.hidden(&id, &text.as_bytes()[found.span.clone()], &|| at.to_owned());
        }
        out.push_str(&text[copied..]);
        out
    }

    /// Adds where `text` quotes what is known, or ends in the middle of it.
    fn quoted(&self, text: &[u8], found: &mut Vec<Found>) {
        for known in &self.known {
            found.extend(memchr::memmem::find_iter(text, known).map(|at| Found {
                span: at..at + known.len(),
                shape: None,
            }));
            let longest = known.len().min(text.len() + 1);
            let cut = (*KNOWN_BYTES.start()..longest)
                .rev()
                .find(|&length| text.ends_with(&known[..length]));
            found.extend(cut.map(|length| Found {
                span: text.len() - length..text.len(),
                shape: None,
            }));
        }
    }
}

/// How often a text is looked at again for what the sign of a hidden secret has set free.
const BESIDE_ROUNDS: usize = 4;

impl Hiding<'_> {
    /// Looks at `text` as it will be shown without what was found, and says whether there is more.
    fn find_beside(&mut self, text: &[u8], in_force: &InForce, found: &mut Vec<Found>) -> bool {
        if found.is_empty() {
            return false;
        }
        let mut shown = Vec::with_capacity(text.len());
        // Where each part that is shown as it is stands in `shown`, and where in `text`.
        let mut parts: Vec<(Range<usize>, usize)> = Vec::new();
        let mut copied = 0;
        let show = |shown: &mut Vec<u8>, part: Range<usize>| {
            let at = shown.len();
            shown.extend_from_slice(&text[part.clone()]);
            (at..shown.len(), part.start)
        };
        for one in found.iter() {
            parts.push(show(&mut shown, copied..one.span.start));
            shown.extend_from_slice(OPENING.as_bytes());
            shown.extend_from_slice(self.id(one).as_bytes());
            shown.push(b']');
            copied = one.span.end;
        }
        parts.push(show(&mut shown, copied..text.len()));
        let mut beside = Vec::new();
        let scanner = &in_force.scanner;
        scanner.find(&shown, &self.off, &mut self.scratch, &mut beside);
        let before = found.len();
        for one in beside {
            for (part, start) in &parts {
                let (from, to) = (one.span.start.max(part.start), one.span.end.min(part.end));
                if from < to {
                    found.push(Found {
                        span: from - part.start + start..to - part.start + start,
                        shape: one.shape,
                    });
                }
            }
        }
        let more = found.len() > before;
        merge(found);
        more
    }
}

impl Watch for Hiding<'_> {
    fn is_secret_field(&mut self, name: &[u8]) -> bool {
        let folded = &mut self.folded;
        self.in_force
            .is_some_and(|it| it.fields.holds(name, folded))
            || self
                .tools
                .iter()
                .any(|tool| tool.fields.holds(name, folded))
    }

    fn secrets(&mut self, text: &[u8]) -> Vec<Found> {
        let mut found = Vec::new();
        if let Some(in_force) = self.in_force {
            in_force
                .scanner
                .find(text, &self.off, &mut self.scratch, &mut found);
            if self.quotes {
                self.quoted(text, &mut found);
            }
            merge(&mut found);
            // What stood against a secret stands against its sign now, and may be a word of its own.
            for _ in 0..BESIDE_ROUNDS {
                if !self.find_beside(text, in_force, &mut found) {
                    break;
                }
            }
        }
        found
    }

    fn id(&self, found: &Found) -> String {
        match (found.shape, self.in_force) {
            (Some(shape), Some(it)) => it.scanner.id(shape).to_owned(),
            _ => QUOTED.to_owned(),
        }
    }

    fn hidden(&mut self, id: &str, secret: &[u8], at: &dyn Fn() -> String) {
        if let Some(looked) = &mut self.looked {
            looked.add(id, at);
        }
        if self.known.len() < KNOWN_MAX
            && KNOWN_BYTES.contains(&secret.len())
            && !is_no_secret(secret)
            && !self.known.iter().any(|known| known == secret)
        {
            self.known.push(secret.to_owned());
        }
    }
}

#[cfg(test)]
mod tests;
