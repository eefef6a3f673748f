//! What is found wrong, and how it is counted.

use serde::Serialize;

/// The invariants, numbered as the plan of tests numbers them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub enum Invariant {
    /// Acknowledged, and not there.
    I1Lost,
    /// There, and never meant.
    I2Invented,
    /// Part of a transaction.
    I3Torn,
    /// Out of order.
    I4Order,
    /// Delivered twice without a reason.
    I5Duplicates,
    /// A history that does not replay.
    I6Lifecycle,
    /// Not at its end.
    I7Bounded,
    /// Changed without a trace.
    I9Audit,
    /// A file that is not whole, or not kept as it was sold.
    I10File,
}

/// One thing that is wrong.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// What does not hold.
    pub invariant: Invariant,
    /// Where, and how.
    pub says: String,
}

/// What was found in one store.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Verdict {
    /// Everything that is wrong.
    pub findings: Vec<Finding>,
    /// How many facts are on record.
    pub facts: u64,
    /// How many deliveries arrived beyond the first of each intent.
    pub extra_attempts: u64,
}

impl Verdict {
    pub(crate) fn find(&mut self, invariant: Invariant, says: String) {
        self.findings.push(Finding { invariant, says });
    }

    /// How many findings are of one of `invariants`.
    pub fn count(&self, invariants: &[Invariant]) -> u64 {
        let found = self.findings.iter();
        found
            .filter(|finding| invariants.contains(&finding.invariant))
            .count() as u64
    }
}
