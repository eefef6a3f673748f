//! What a replay did, in numbers.

use std::collections::BTreeMap;

use serde::Serialize;
use triplane::state::Committed;
use triplane::{Decided, ToolCallDecision};

/// The counts of one run. `events = already_recorded + allowed + would_deny + would_rewrite`.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Summary {
    /// Every event that was read; one without a decision counts as allowed.
    pub(crate) events: u64,
    /// Lines that could not be read, and entries of an unknown type.
    pub(crate) skipped: u64,
    /// Known entries that hold no event.
    pub(crate) without_event: u64,
    /// Events that the store held already.
    pub(crate) already_recorded: u64,
    pub(crate) allowed: u64,
    pub(crate) would_deny: u64,
    pub(crate) would_rewrite: u64,
    /// Rows of the signal log that this run wrote.
    pub(crate) signals: u64,
    /// Rows of the outbox that this run wrote.
    pub(crate) intents: u64,
    /// Deliveries that this run made, those of older intents included.
    pub(crate) delivered: u64,
    /// Intents that the store held when the run ended.
    pub(crate) pending: u64,
    /// Deliveries that a sink refused for now.
    pub(crate) retried: u64,
    /// Deliveries that were given up.
    pub(crate) dead_lettered: u64,
    /// Tool calls that the session reports as failed.
    pub(crate) failed_calls: u64,
    /// How often each rule denied or rewrote.
    pub(crate) rules: BTreeMap<String, u64>,
    /// The signal that has cut the run short, if one has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) stopped_by: Option<&'static str>,
    pub(crate) format: String,
    pub(crate) store: String,
    pub(crate) seconds: f64,
    pub(crate) events_per_second: f64,
}

impl Summary {
    /// Counts one event by how it was judged and what was written of it.
    pub(crate) fn count(&mut self, decided: &Decided) {
        let Committed::Recorded(receipt) = &decided.committed else {
            self.already_recorded += 1;
            return;
        };
        self.signals += receipt.signals().len() as u64;
        self.intents += receipt.intents().len() as u64;
        match &decided.judged.decision {
            ToolCallDecision::Allowed => self.allowed += 1,
            ToolCallDecision::Denied(finding) => {
                self.would_deny += 1;
                self.spoke(&finding.rule);
            }
            ToolCallDecision::Rewritten { rule, .. } => {
                self.would_rewrite += 1;
                self.spoke(rule);
            }
        }
    }

    fn spoke(&mut self, rule: &str) {
        match self.rules.get_mut(rule) {
            Some(times) => *times += 1,
            None => {
                self.rules.insert(rule.to_owned(), 1);
            }
        }
    }
}
