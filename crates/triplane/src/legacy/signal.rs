//! `Signal`: the old envelope, of a class, with an emitter's role, data and fields.

use std::sync::Arc;

use triplane_kernel::{Key, Keyed};
use triplane_signals::{Lane, SignalClass};
use uuid::Uuid;

use crate::legacy::value::{Signal, TypeName, Value};

impl Signal {
    /// A signal of this class that carries nothing.
    pub fn new(class: SignalClass) -> Self {
        Self {
            id: Uuid::now_v7(),
            class,
            emitter_role: None,
            data: Value::Null,
            fields: Vec::new(),
        }
    }

    /// The same, carrying `data`.
    #[must_use]
    pub fn carrying(mut self, data: impl Into<Value>) -> Self {
        self.data = data.into();
        self
    }

    /// The same, emitted in this role.
    #[must_use]
    pub fn in_role(mut self, role: impl Into<String>) -> Self {
        self.emitter_role = Some(role.into());
        self
    }

    /// The same with one field more.
    #[must_use]
    pub fn with(mut self, name: impl Into<String>, value: impl Into<Value>) -> Self {
        self.fields.push((name.into(), value.into()));
        self
    }

    /// The value of a field.
    pub fn field(&self, name: &str) -> Option<&Value> {
        let mut fields = self.fields.iter();
        fields.find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The text of a field; empty when there is none.
    pub fn text(&self, name: &str) -> &str {
        match self.field(name) {
            Some(Value::Text(text)) => text,
            _ => "",
        }
    }

    /// The lane that the signal moves its node to. A call for help that is only for information
    /// (`urgency` is `fyi`) moves nothing.
    pub fn lane(&self) -> Option<Lane> {
        match self.class {
            SignalClass::NodeEscalated => {
                let request = self.field("escalation_request");
                (!request.is_some_and(for_information)).then_some(Lane::Escalated)
            }
            SignalClass::StructuredOutput => {
                let asks = self.data.is_a(&TypeName::from_static("escalation_request"));
                (asks && !for_information(&self.data)).then_some(Lane::Escalated)
            }
            class => class.lane(),
        }
    }
}

fn for_information(request: &Value) -> bool {
    request
        .field("urgency")
        .is_some_and(|urgency| urgency.equals(&Value::text("fyi")))
}

impl Keyed for Signal {
    fn keys(&self) -> impl Iterator<Item = Key> {
        let own = (self.class != SignalClass::Signal).then(|| self.class.key());
        own.into_iter().chain([SignalClass::Signal.key()])
    }
}

/// The lane of one node, from its signals in order (plane: observation; new name:
/// [`triplane_signals::lane_for`]).
pub fn lane_for<'s>(signals: impl IntoIterator<Item = &'s Arc<Signal>>) -> Lane {
    triplane_signals::lane_for(signals.into_iter().filter_map(|signal| signal.lane()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_for_help_that_only_informs_moves_no_lane() {
        let urgency = |word: &str| Value::from(vec![("urgency".to_owned(), Value::text(word))]);
        let escalated = |word: &str| {
            let signal = Signal::new(SignalClass::NodeEscalated);
            Arc::new(signal.with("escalation_request", urgency(word)))
        };
        let started = Arc::new(Signal::new(SignalClass::NodeStarted));
        assert_eq!(lane_for([&started, &escalated("fyi")]), Lane::Running);
        assert_eq!(lane_for([&started, &escalated("blocked")]), Lane::Escalated);
    }
}
