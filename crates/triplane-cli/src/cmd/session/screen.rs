//! A session as people read it: a line for each call, what it was about below, sums at the end.

use std::collections::BTreeMap;

use serde_json::Value;
use triplane::state::OutboxStatus;

use crate::cmd::session::call::Call;
use crate::cmd::session::result::ResultState;
use crate::paint::{Ink, Paint};
use crate::render::{Output, column, moment};

/// How much of a long text is shown; `--json` has it whole.
const SHOWN: usize = 100;

/// Shows calls, and counts them.
pub(crate) struct Shown {
    paint: Paint,
    calls: u64,
    decisions: BTreeMap<&'static str, u64>,
    results: BTreeMap<&'static str, u64>,
    deliveries: BTreeMap<&'static str, u64>,
}

impl Shown {
    pub(crate) fn new(paint: Paint) -> Self {
        Self {
            paint,
            calls: 0,
            decisions: BTreeMap::new(),
            results: BTreeMap::new(),
            deliveries: BTreeMap::new(),
        }
    }

    pub(crate) fn call(&mut self, out: &mut Output, call: &Call) {
        self.count(call);
        let decided = self.decided(call);
        let result = self.result(call.result.state);
        out.line(format_args!(
            "{:>6}  {}  {}  {decided}  {result}  {}",
            call.sequence,
            moment(call.occurred_at_us),
            column(call.tool.as_deref().unwrap_or_default(), 14),
            self.delivered(call),
        ));
        if let (Some(before), Some(after)) = (&call.arguments, &call.arguments_after) {
            below(out, "before", &about(before.get()));
            below(out, "after", &about(after.get()));
        } else if let Some(arguments) = &call.arguments {
            below(out, "", &about(arguments.get()));
        }
        if let Some(rule) = &call.rule {
            below(out, rule, call.reason.as_deref().unwrap_or_default());
        }
        if let Some(error) = &call.result.error {
            below(out, "error", error);
        }
        for delivery in call.all_deliveries() {
            if let Some(error) = delivery
                .last_error
                .as_ref()
                .filter(|_| !is_over(delivery.status))
            {
                below(out, &format!("sink {}", delivery.sink), error);
            }
        }
    }

    fn count(&mut self, call: &Call) {
        self.calls += 1;
        *self.decisions.entry(call.decided()).or_default() += 1;
        *self.results.entry(call.result.state.as_str()).or_default() += 1;
        for delivery in call.all_deliveries() {
            *self.deliveries.entry(delivery.status.as_str()).or_default() += 1;
        }
    }

    fn decided(&self, call: &Call) -> String {
        let word = call.decided();
        let shown = column(word, 13);
        match call.decision.as_deref() {
            Some("denied") => self.paint.dip(Ink::Red, &shown).into_owned(),
            Some("rewritten") => self.paint.dip(Ink::Yellow, &shown).into_owned(),
            _ => shown,
        }
    }

    fn result(&self, state: ResultState) -> String {
        let shown = column(state.as_str(), 9);
        match state {
            ResultState::Failed => self.paint.dip(Ink::Magenta, &shown).into_owned(),
            ResultState::Refused => self.paint.dip(Ink::Red, &shown).into_owned(),
            ResultState::Succeeded | ResultState::Cancelled | ResultState::NoResult => shown,
        }
    }

    /// How far the deliveries have come, in a word: the one that is furthest behind speaks.
    fn delivered(&self, call: &Call) -> String {
        let Some(behind) = call.all_deliveries().min_by_key(|it| place(it.status)) else {
            return "nothing to deliver".to_owned();
        };
        let said = match behind.status {
            OutboxStatus::Pending if behind.attempt > 0 => {
                format!("pending, {} attempts made", behind.attempt)
            }
            status => status.as_str().replace('_', " "),
        };
        match behind.status {
            OutboxStatus::DeadLetter | OutboxStatus::Expired => {
                self.paint.dip(Ink::Red, &said).into_owned()
            }
            OutboxStatus::Pending
            | OutboxStatus::Delivering
            | OutboxStatus::Delivered
            | OutboxStatus::Acked => said,
        }
    }

    pub(crate) fn sums(&self, out: &mut Output) {
        let list = |counts: &BTreeMap<&'static str, u64>| {
            let counts = counts.iter().map(|(word, count)| format!("{count} {word}"));
            counts.collect::<Vec<_>>().join(", ")
        };
        if self.calls == 0 {
            out.line("no calls");
            return;
        }
        out.line(format_args!(
            "{} calls: {}; {}",
            self.calls,
            list(&self.decisions),
            list(&self.results)
        ));
        if !self.deliveries.is_empty() {
            out.line(format_args!("deliveries: {}", list(&self.deliveries)));
        }
    }
}

/// The further behind, the smaller.
fn place(status: OutboxStatus) -> u8 {
    match status {
        OutboxStatus::DeadLetter => 0,
        OutboxStatus::Expired => 1,
        OutboxStatus::Pending => 2,
        OutboxStatus::Delivering => 3,
        OutboxStatus::Delivered => 4,
        OutboxStatus::Acked => 5,
    }
}

fn is_over(status: OutboxStatus) -> bool {
    matches!(status, OutboxStatus::Delivered | OutboxStatus::Acked)
}

fn below(out: &mut Output, label: &str, text: &str) {
    let text = column(text, SHOWN);
    let text = text.trim_end();
    if label.is_empty() {
        out.line(format_args!("        {text}"));
    } else {
        out.line(format_args!("        {label}: {text}"));
    }
}

/// The one argument that says it, or else all of them.
fn about(arguments: &str) -> String {
    let said = serde_json::from_str::<Value>(arguments)
        .ok()
        .and_then(|value| {
            let one = ["command", "file_path", "url"]
                .iter()
                .find_map(|name| value.get(name));
            one?.as_str().map(str::to_owned)
        });
    said.unwrap_or_else(|| arguments.to_owned())
}
