//! What is counted, over one run and over all.

use serde::Serialize;
use triplane_referee::{Invariant, Verdict};

/// The counts of a run or of the whole campaign.
#[derive(Debug, Clone, Default, Serialize)]
pub(crate) struct Tally {
    pub(crate) kills: u64,
    pub(crate) facts: u64,
    pub(crate) lost: u64,
    pub(crate) invented: u64,
    pub(crate) torn: u64,
    pub(crate) reordered: u64,
    pub(crate) dup_same_attempt: u64,
    pub(crate) dup_extra_attempts: u64,
    pub(crate) stuck: u64,
}

impl Tally {
    pub(crate) const fn new() -> Self {
        Self {
            kills: 0,
            facts: 0,
            lost: 0,
            invented: 0,
            torn: 0,
            reordered: 0,
            dup_same_attempt: 0,
            dup_extra_attempts: 0,
            stuck: 0,
        }
    }

    /// Counts what was found in a store.
    pub(crate) fn judged(&mut self, verdict: &Verdict) {
        use Invariant as I;
        self.lost += verdict.count(&[I::I1Lost]);
        self.invented += verdict.count(&[I::I2Invented]);
        // What one transaction writes does not agree.
        self.torn += verdict.count(&[I::I3Torn, I::I6Lifecycle, I::I9Audit, I::I10File]);
        self.reordered += verdict.count(&[I::I4Order]);
        self.dup_same_attempt += verdict.count(&[I::I5Duplicates]);
        self.stuck += verdict.count(&[I::I7Bounded]);
    }

    pub(crate) fn add(&mut self, other: &Self) {
        self.kills += other.kills;
        self.facts += other.facts;
        self.lost += other.lost;
        self.invented += other.invented;
        self.torn += other.torn;
        self.reordered += other.reordered;
        self.dup_same_attempt += other.dup_same_attempt;
        self.dup_extra_attempts += other.dup_extra_attempts;
        self.stuck += other.stuck;
    }

    /// Whether nothing is wrong.
    pub(crate) const fn is_clean(&self) -> bool {
        self.lost == 0
            && self.invented == 0
            && self.torn == 0
            && self.reordered == 0
            && self.dup_same_attempt == 0
            && self.stuck == 0
    }
}
