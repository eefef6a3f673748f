//! How a verdict came about: the simple commands, and every rule that spoke.

use std::thread;

use jiff::Timestamp;

use crate::command::judge::{Objection, objections};
use crate::command::normalise::{Simple, normalise};
use crate::command::parser_thread::{NoAnswer, STACK_BYTES};
use crate::command::rules::{Asked, LetThrough, RuleSet};
use crate::command::scan::{ScanRefusal, look};
use crate::place::Place;

/// Everything that was found out about a command.
#[derive(Debug, Clone)]
pub struct Explanation {
    /// The simple commands that it runs, in the order in which they are met.
    pub simples: Vec<Simple>,
    /// What speaks against it, in the same order.
    pub objections: Vec<Objection>,
    /// What entries let through, in the same order.
    pub let_through: Vec<LetThrough>,
    /// Why it was not parsed, if it was not.
    pub refusal: Option<ScanRefusal>,
}

impl Explanation {
    /// Whether the guard would refuse the command.
    pub fn is_refused(&self) -> bool {
        self.refusal.is_some() || !self.objections.is_empty()
    }

    /// The objection that the verdict names: the first of the severest.
    pub fn severest(&self) -> Option<&Objection> {
        let tier = self
            .objections
            .iter()
            .map(|objection| objection.rule.tier)
            .max()?;
        self.objections
            .iter()
            .find(|objection| objection.rule.tier == tier)
    }
}

/// Explains `command` under the default set of rules, as [`explain_under`] does.
///
/// # Errors
///
/// Returns [`NoAnswer`] when no thread could be started, or when the parser failed.
pub fn explain(command: &str, place: &Place) -> Result<Explanation, NoAnswer> {
    explain_under(&RuleSet::default(), command, place, Timestamp::UNIX_EPOCH)
}

/// Explains `command` under `rules` as of `now`, on a thread of its own and without a time limit:
/// for tools and tests, not for decisions.
///
/// # Errors
///
/// Returns [`NoAnswer`] when no thread could be started, or when the parser failed.
pub fn explain_under(
    rules: &RuleSet,
    command: &str,
    place: &Place,
    now: Timestamp,
) -> Result<Explanation, NoAnswer> {
    let found = match look(command) {
        Ok(found) => found,
        Err(refusal) => {
            return Ok(Explanation {
                simples: Vec::new(),
                objections: Vec::new(),
                let_through: Vec::new(),
                refusal: Some(refusal),
            });
        }
    };
    thread::scope(|scope| {
        let parser = thread::Builder::new()
            .stack_size(STACK_BYTES)
            .spawn_scoped(scope, || {
                let simples = normalise(command, found, place);
                let asked = Asked {
                    command,
                    place,
                    rules,
                    now,
                };
                let mut let_through = Vec::new();
                let objections = simples
                    .iter()
                    .flat_map(|simple| objections(simple, &asked, &mut let_through))
                    .collect();
                Explanation {
                    simples,
                    objections,
                    let_through,
                    refusal: None,
                }
            })
            .map_err(|_| NoAnswer::NoThread)?;
        parser.join().map_err(|_| NoAnswer::Failed)
    })
}
