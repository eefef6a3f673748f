//! From a command to the verdict: the severest rule against any of its simple commands.

use std::ops::Range;

use crate::command::normalise::{Simple, normalise, pseudo};
use crate::command::rules::{Rule, Tier, hit};
use crate::place::Place;

/// A rule that spoke against a command.
#[derive(Debug, Clone)]
pub struct Objection {
    /// The rule.
    pub rule: &'static Rule,
    /// The part that it spoke about, in bytes of the command.
    pub span: Range<usize>,
    /// What was found there beyond the rule's reason.
    pub detail: Option<String>,
}

/// How sure it is that a text is run by a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certainty {
    Certain,
    /// It may be no command at all: that it cannot be read says nothing then.
    Perhaps,
}

/// The severest objection against `command`; of equals, the first.
///
/// Must run on the parser's thread unless the command is [`plain`](crate::command::parse::plain).
pub(crate) fn judge(command: &str, certainty: Certainty, place: &Place) -> Option<Objection> {
    let mut severest: Option<Objection> = None;
    for simple in &normalise(command, place) {
        let unreadable =
            simple.program == pseudo::UNPARSABLE || simple.program == pseudo::UNKNOWN_PROGRAM;
        if certainty == Certainty::Perhaps && unreadable {
            continue;
        }
        let Some(found) = objection(simple, place) else {
            continue;
        };
        if found.rule.tier == Tier::Catastrophic {
            return Some(found);
        }
        severest = severest.or(Some(found));
    }
    severest
}

/// What speaks against one simple command.
pub(crate) fn objection(simple: &Simple, place: &Place) -> Option<Objection> {
    let hit = hit(simple, place)?;
    let detail = (simple.program == pseudo::UNPARSABLE)
        .then(|| simple.args.first().map(|word| word.shown().into_owned()))
        .flatten();
    Some(Objection {
        rule: hit.rule,
        span: hit.span,
        detail,
    })
}
