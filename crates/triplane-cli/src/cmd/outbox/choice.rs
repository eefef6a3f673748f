//! Which intents are meant, as the command line says it.

use triplane::state::{IntentSelection, OutboxStatus};

use crate::args::{IntentArgs, StatusArg};

/// The intents that `ids` and `intents` mean.
pub(crate) fn selection(ids: &[String], intents: &IntentArgs) -> IntentSelection {
    let mut selection = IntentSelection::new();
    if !ids.is_empty() {
        selection = selection.ids(ids.iter().map(String::as_str));
    }
    for status in &intents.status {
        selection = selection.status((*status).into());
    }
    if let Some(sink) = &intents.sink {
        selection = selection.sink(sink.as_str());
    }
    if let Some(before) = intents.before {
        selection = selection.before_us(before.us());
    }
    selection
}

pub(crate) fn missing(id: &str) -> String {
    format!("there is no intent {id}; triplane outbox ls lists those there are")
}

impl From<StatusArg> for OutboxStatus {
    fn from(status: StatusArg) -> Self {
        match status {
            StatusArg::Pending => Self::Pending,
            StatusArg::Delivering => Self::Delivering,
            StatusArg::Delivered => Self::Delivered,
            StatusArg::Acked => Self::Acked,
            StatusArg::DeadLetter => Self::DeadLetter,
            StatusArg::Expired => Self::Expired,
        }
    }
}
