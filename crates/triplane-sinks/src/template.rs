//! Arguments that stand for a field of the delivery.

use std::ffi::OsString;

use triplane_process::{Argv, ArgvRefused};
use triplane_state::delivery::DeliveryIntent;

/// A command whose whole arguments may be `{payload}` or another field of the delivery.
///
/// Only a whole argument is replaced, and never the program: what a field holds cannot become part
/// of another argument, nor choose what is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Template {
    program: OsString,
    words: Vec<Word>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Word {
    Literal(OsString),
    Field(Field),
}

/// A field of the delivery that an argument may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field {
    Key,
    Identity,
    Intent,
    Attempt,
    Session,
    Sequence,
    Kind,
    DeliverTo,
    Payload,
}

/// Why a command cannot be run for deliveries.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TemplateRefused {
    /// The words are not an argument vector.
    #[error(transparent)]
    Argv(#[from] ArgvRefused),
    /// An argument looks like a field that a delivery does not have.
    #[error("{{{name}}} is no field of a delivery; the fields are {FIELDS}")]
    UnknownField {
        /// The name in braces.
        name: String,
    },
    /// The program would be chosen by the delivery.
    #[error("the program cannot be a field of the delivery")]
    FieldAsProgram,
}

const FIELDS: &str = "{key}, {identity}, {intent}, {attempt}, {session}, {sequence}, {kind}, \
                      {deliver_to}, {payload}";

impl Template {
    /// Checks `words`; the first is the program.
    pub(crate) fn new(words: impl IntoIterator<Item = OsString>) -> Result<Self, TemplateRefused> {
        let argv = Argv::new(words)?;
        if named_field(argv.program()).is_some() {
            return Err(TemplateRefused::FieldAsProgram);
        }
        let word = |argument: &OsString| match named_field(argument) {
            None => Ok(Word::Literal(argument.clone())),
            Some(name) => match Field::named(name) {
                Some(field) => Ok(Word::Field(field)),
                None => Err(TemplateRefused::UnknownField {
                    name: name.to_owned(),
                }),
            },
        };
        let words = argv
            .arguments()
            .iter()
            .map(word)
            .collect::<Result<_, _>>()?;
        let program = argv.program().to_owned();
        Ok(Self { program, words })
    }

    /// Whether an argument is the payload, which is then not given on the standard input.
    pub(crate) fn takes_payload(&self) -> bool {
        self.words.contains(&Word::Field(Field::Payload))
    }

    /// The argument vector for a delivery; refused when a field does not fit into an argument.
    pub(crate) fn fill(&self, value: impl Fn(Field) -> String) -> Result<Argv, ArgvRefused> {
        let words = self.words.iter().map(|word| match word {
            Word::Literal(text) => text.clone(),
            Word::Field(field) => value(*field).into(),
        });
        Argv::new(std::iter::once(self.program.clone()).chain(words))
    }
}

impl Field {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "key" => Self::Key,
            "identity" => Self::Identity,
            "intent" => Self::Intent,
            "attempt" => Self::Attempt,
            "session" => Self::Session,
            "sequence" => Self::Sequence,
            "kind" => Self::Kind,
            "deliver_to" => Self::DeliverTo,
            "payload" => Self::Payload,
            _ => return None,
        })
    }

    /// The field's value in `intent`.
    pub(crate) fn of(self, intent: &DeliveryIntent) -> String {
        match self {
            Self::Key => intent.key().to_owned(),
            Self::Identity => intent.identity().to_owned(),
            Self::Intent => intent.id().to_owned(),
            Self::Attempt => intent.attempt().to_string(),
            Self::Session => intent.session().to_owned(),
            Self::Sequence => intent.sequence().to_string(),
            Self::Kind => intent.kind().to_owned(),
            // An argument of its own, empty when there is no destination.
            Self::DeliverTo => intent.deliver_to().unwrap_or_default().to_owned(),
            Self::Payload => intent.payload().get().to_owned(),
        }
    }
}

/// The name in an argument that is one word in braces. `{}` and `{a b}` are ordinary arguments.
fn named_field(argument: &std::ffi::OsStr) -> Option<&str> {
    let name = argument.to_str()?.strip_prefix('{')?.strip_suffix('}')?;
    let is_word = !name.is_empty() && name.chars().all(|c| c == '_' || c.is_ascii_lowercase());
    is_word.then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn template(words: &[&str]) -> Result<Template, TemplateRefused> {
        Template::new(words.iter().map(OsString::from))
    }

    #[test]
    fn a_whole_argument_is_replaced_and_no_part_of_one() {
        let check = |words: &[&str], wanted: &[&str]| {
            let filled = template(words)
                .expect("a command")
                .fill(|field| format!("<{field:?}>"));
            let filled = filled.expect("an argument vector");
            assert_eq!(filled.arguments(), wanted);
        };
        check(&["x", "{payload}", "{key}"], &["<Payload>", "<Key>"]);
        check(
            &["x", "--data={payload}", "{}", "{ key }", "{a-b}"],
            &["--data={payload}", "{}", "{ key }", "{a-b}"],
        );
    }

    #[test]
    fn a_command_is_checked_before_the_first_delivery() {
        let check = |words: &[&str], wanted: TemplateRefused| {
            assert_eq!(template(words), Err(wanted));
        };
        check(&[], ArgvRefused::NoProgram.into());
        check(&["{payload}"], TemplateRefused::FieldAsProgram);
        check(
            &["x", "{paylod}"],
            TemplateRefused::UnknownField {
                name: "paylod".into(),
            },
        );
    }

    #[test]
    fn a_value_that_no_argument_can_hold_is_refused() {
        let template = template(&["x", "{payload}"]).expect("a command");
        assert!(template.takes_payload());
        let refused = template.fill(|_| "a\0".into());
        assert_eq!(refused, Err(ArgvRefused::Nul { position: 1 }));
        let refused = template.fill(|_| "x".repeat(200_000));
        assert!(matches!(refused, Err(ArgvRefused::TooLong { .. })));
    }
}
