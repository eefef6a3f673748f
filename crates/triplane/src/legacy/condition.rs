//! What an old observer asks of a signal, and which values it is handed.

use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use triplane_kernel::HandlerFailure;

use crate::legacy::value::{Signal, TypeName, Value};

/// One condition; several are conjoined.
#[derive(Clone)]
pub enum Condition {
    /// The payload is of this type, or has fields that are: then those are handed over. A signal is
    /// also looked at as a signal.
    Type(TypeName),
    /// A function says so. Its failure is logged, and means no.
    Predicate(Arc<Predicate>),
    /// A field of the payload compares so; a payload without it, or with one that has no order, does
    /// not match.
    Field {
        /// The path of the field, parted by dots.
        path: String,
        /// How it compares.
        comparison: Comparison,
        /// What it is compared with.
        value: Value,
    },
    /// A filter object.
    Filter(Arc<dyn Filter>),
}

/// A function over a payload.
pub type Predicate = dyn Fn(&Value) -> Result<bool, HandlerFailure> + Send + Sync;

/// How a field compares with a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[expect(missing_docs, reason = "each is the comparison of its name")]
pub enum Comparison {
    Equal,
    NotEqual,
    Greater,
    GreaterOrEqual,
    Less,
    LessOrEqual,
}

/// A filter that says which values are handed over; implemented by users of the old observer.
pub trait Filter: Send + Sync {
    /// The values to hand over, each in a call of its own. Alone, its failure stops the emission;
    /// beside other conditions it is logged and means no.
    ///
    /// # Errors
    ///
    /// Whatever keeps it from judging.
    fn matches(&self, payload: &Value) -> Result<Vec<Value>, HandlerFailure>;

    /// The most values that it hands over of one payload; what is beyond is not handed over.
    fn matches_max(&self) -> usize {
        1
    }
}

impl Condition {
    /// The condition of a class of signals, or of another type.
    pub fn of_type(type_name: impl Into<TypeName>) -> Self {
        Self::Type(type_name.into())
    }

    /// A condition from a function.
    pub fn when(accepts: impl Fn(&Value) -> bool + Send + Sync + 'static) -> Self {
        Self::Predicate(Arc::new(move |value| Ok(accepts(value))))
    }

    /// A condition on a field.
    pub fn field(path: impl Into<String>, comparison: Comparison, value: impl Into<Value>) -> Self {
        Self::Field {
            path: path.into(),
            comparison,
            value: value.into(),
        }
    }

    fn holds(&self, payload: &Value) -> Result<bool, HandlerFailure> {
        match self {
            Self::Type(type_name) => Ok(!of_type(type_name, payload).is_empty()),
            Self::Predicate(accepts) => accepts(payload),
            Self::Field {
                path,
                comparison,
                value,
            } => Ok(payload
                .at(path)
                .is_some_and(|found| comparison.holds(found, value))),
            Self::Filter(filter) => Ok(!filter.matches(payload)?.is_empty()),
        }
    }
}

impl Comparison {
    fn holds(self, found: &Value, wanted: &Value) -> bool {
        let order = || found.order(wanted);
        match self {
            Self::Equal => found.equals(wanted),
            Self::NotEqual => !found.equals(wanted),
            Self::Greater => order() == Some(Ordering::Greater),
            Self::GreaterOrEqual => order().is_some_and(Ordering::is_ge),
            Self::Less => order() == Some(Ordering::Less),
            Self::LessOrEqual => order().is_some_and(Ordering::is_le),
        }
    }
}

fn of_type(type_name: &TypeName, payload: &Value) -> Vec<Value> {
    if payload.is_a(type_name) {
        return vec![payload.clone()];
    }
    let fields = payload.fields().iter().map(|(_, value)| value);
    fields
        .filter(|value| value.is_a(type_name))
        .cloned()
        .collect()
}

/// The conditions of one subscription: at least one, or a role.
#[derive(Debug, Clone)]
pub(crate) struct Conditions {
    all: Vec<Condition>,
    role: Option<String>,
}

impl Conditions {
    /// `None` when there is neither a condition nor a role.
    pub(crate) fn new(all: Vec<Condition>, role: Option<String>) -> Option<Self> {
        (!all.is_empty() || role.is_some()).then_some(Self { all, role })
    }

    /// The most values that are handed over of this signal.
    pub(crate) fn matches_max(&self, event: &Signal) -> usize {
        match self.all.as_slice() {
            // The payload or its fields, and the signal itself.
            [Condition::Type(_)] => event.data.fields().len().max(1) + 1,
            [Condition::Filter(filter)] => filter.matches_max(),
            _ => 1,
        }
    }

    /// The values to hand over. An ordinary failure means that the subscription does not match, a
    /// fatal one ends the emission.
    pub(crate) fn matches(&self, event: &Arc<Signal>) -> Result<Vec<Value>, HandlerFailure> {
        if let Some(role) = &self.role
            && event.emitter_role.as_ref() != Some(role)
        {
            return Ok(Vec::new());
        }
        match self.all.as_slice() {
            [] => Ok(vec![match &event.data {
                Value::Null => Value::Signal(Arc::clone(event)),
                data => data.clone(),
            }]),
            [Condition::Type(type_name)] => {
                let mut found = of_type(type_name, &event.data);
                if self.role.is_none() && event.is_a(type_name) {
                    found.push(Value::Signal(Arc::clone(event)));
                }
                Ok(found)
            }
            [Condition::Filter(filter)] => {
                filter
                    .matches(&event.data)
                    .map_err(|failure| match failure {
                        HandlerFailure::Failed(error) => HandlerFailure::Fatal(error),
                        failure => failure,
                    })
            }
            several => {
                for condition in several {
                    if !condition.holds(&event.data)? {
                        return Ok(Vec::new());
                    }
                }
                Ok(vec![event.data.clone()])
            }
        }
    }
}

impl fmt::Debug for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Type(type_name) => write!(f, "{type_name}"),
            Self::Predicate(_) => f.write_str("a function"),
            Self::Field {
                path, comparison, ..
            } => write!(f, "{path} {comparison:?}"),
            Self::Filter(_) => f.write_str("a filter"),
        }
    }
}
