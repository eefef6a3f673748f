//! What the code under test says of failures, as events of a trace.

use std::fmt;
use std::sync::Arc;

use serde_json::json;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};

use crate::run::Run;

/// Notes the lines about failures, from warnings on.
///
/// A line without a `failure` is a diagnostic of the new code, about awaitables that were dropped or
/// points that are dormant: the old code said nothing there. That time ran out is a failure of nobody in
/// particular. When an adapter has said that a handler
/// failed, at the level of the old name, the kernel's line about the same failure right behind it is
/// not counted again.
pub(crate) struct Log {
    pub(crate) run: Arc<Run>,
}

/// What the kernel says when a deadline is to be logged (`deadline_disposition=log_and_stop`).
const TIME_RAN_OUT: &str = "the deadline of an emission ran out";

#[derive(Default)]
struct Line {
    registration: Option<String>,
    is_failure: bool,
}

impl Visit for Line {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        match field.name() {
            "registration" => self.registration = Some(format!("{value:?}")),
            "failure" => self.is_failure = true,
            "message" => self.is_failure |= format!("{value:?}") == TIME_RAN_OUT,
            _ => {}
        }
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.record_debug(field, &format_args!("{value}"));
    }
}

impl Subscriber for Log {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() <= Level::WARN && metadata.target().starts_with("triplane")
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut line = Line::default();
        event.record(&mut line);
        if !line.is_failure {
            return;
        }
        // A plan numbers its registrations.
        let name = line.registration.map(|name| match name.split_once('#') {
            Some((name, _)) => name.to_owned(),
            None => name,
        });
        let known = name.and_then(|name| self.run.called(&name));
        let known = known.and_then(|handler| self.run.blamed(handler));
        let by_adapter = event.metadata().target().starts_with("triplane::");
        let repeats = !by_adapter && self.run.last_said_by_adapter(known.as_deref());
        if !repeats {
            let level = if *event.metadata().level() == Level::ERROR {
                "error"
            } else {
                "warning"
            };
            self.run
                .record(json!({"ev": "log", "level": level, "handler": known}));
            self.run.note_said(by_adapter);
        }
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
