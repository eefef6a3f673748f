//! What a case came to, and printing it.

use std::io::{self, Write as _};

use serde_json::{Value, json};
use triplane_state::Synchronous;

/// The class of durability that a case was measured in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Durability {
    Full,
    Normal,
}

impl Durability {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Full => "FULL",
            Self::Normal => "NORMAL",
        }
    }

    pub(crate) fn synchronous(self) -> Synchronous {
        match self {
            Self::Full => Synchronous::Full,
            Self::Normal => Synchronous::Normal,
        }
    }
}

/// What is asked of a figure.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Bound {
    /// Nothing.
    None,
    /// At least the first is wished for, at least the second required.
    AtLeast(f64, f64),
    /// At most.
    AtMost(f64, f64),
}

/// One figure of one case.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) case: &'static str,
    pub(crate) durability: Durability,
    /// What was measured, with its unit as its name.
    pub(crate) unit: &'static str,
    pub(crate) value: f64,
    /// The limit's letter and its figure in the same unit.
    pub(crate) limit: Option<(&'static str, f64)>,
    /// What is held against the bound: the ratio to the limit, or the figure itself.
    pub(crate) ratio: f64,
    pub(crate) bound: Bound,
    /// What else is to be said.
    pub(crate) more: Vec<(&'static str, Value)>,
}

impl Row {
    fn verdict(&self) -> &'static str {
        let judge = |goal: bool, must: bool| match (goal, must) {
            (true, _) => "goal",
            (false, true) => "must",
            (false, false) => "missed",
        };
        match self.bound {
            Bound::None => "-",
            Bound::AtLeast(goal, must) => judge(self.ratio >= goal, self.ratio >= must),
            Bound::AtMost(goal, must) => judge(self.ratio <= goal, self.ratio <= must),
        }
    }

    fn bounds(&self) -> (Option<f64>, Option<f64>) {
        match self.bound {
            Bound::None => (None, None),
            Bound::AtLeast(goal, must) | Bound::AtMost(goal, must) => (Some(goal), Some(must)),
        }
    }

    fn json(&self) -> Value {
        let round = |number: f64| (number * 1000.0).round() / 1000.0;
        let (goal, must) = self.bounds();
        let mut object = json!({
            "case": self.case,
            "durability": self.durability.name(),
            self.unit: round(self.value),
            "limit": self.limit.map(|(name, _)| name),
            "limit_value": self.limit.map(|(_, value)| round(value)),
            "ratio": round(self.ratio),
            "goal": goal,
            "must": must,
            "holds": self.verdict(),
        });
        for (name, value) in &self.more {
            object[*name] = value.clone();
        }
        object
    }
}

/// Prints rows as they come.
#[derive(Debug)]
pub(crate) struct Printer {
    json: bool,
    wanted: String,
    begun: bool,
    holds: bool,
}

impl Printer {
    pub(crate) fn new(json: bool, wanted: String) -> Self {
        Self {
            json,
            wanted,
            begun: false,
            holds: true,
        }
    }

    pub(crate) fn wants(&self, case: &str) -> bool {
        case.contains(&self.wanted)
    }

    pub(crate) fn print(&mut self, row: &Row) -> io::Result<()> {
        if !self.wants(row.case) {
            return Ok(());
        }
        let verdict = row.verdict();
        self.holds &= verdict != "missed";
        let mut out = io::stdout().lock();
        if self.json {
            return writeln!(out, "{}", row.json());
        }
        if !std::mem::replace(&mut self.begun, true) {
            writeln!(
                out,
                "{:<34} {:<7} {:>12} {:<10} {:>14} {:>8} {:>6} {:>6} holds",
                "case", "class", "value", "unit", "limit", "ratio", "goal", "must"
            )?;
        }
        let (goal, must) = row.bounds();
        let number = |number: Option<f64>| number.map_or("-".to_owned(), |it| it.to_string());
        let limit = row
            .limit
            .map_or("-".to_owned(), |(name, value)| format!("{name} {value:.0}"));
        writeln!(
            out,
            "{:<34} {:<7} {:>12.1} {:<10} {:>14} {:>8.3} {:>6} {:>6} {verdict}",
            row.case,
            row.durability.name(),
            row.value,
            row.unit,
            limit,
            row.ratio,
            number(goal),
            number(must),
        )
    }

    /// Whether no case has missed what it must hold.
    pub(crate) fn holds(&self) -> bool {
        self.holds
    }
}
