//! From a command to the verdict: the severest rule against any of its simple commands.

use std::ops::Range;

use crate::command::near::Beyond;
use crate::command::normalise::{Simple, normalise, normalise_near, pseudo};
use crate::command::rules::{Asked, Hit, LetThrough, RuleRef, Tier};
use crate::command::scan::Found;

/// A rule that spoke against a command.
#[derive(Debug, Clone)]
pub struct Objection {
    /// The rule.
    pub rule: RuleRef,
    /// The part that it spoke about, in bytes of the command.
    pub span: Range<usize>,
    /// What was found there beyond the rule's reason.
    pub detail: Option<String>,
}

/// What was found out about a command.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    /// The severest objection; of equals, the first.
    pub(crate) objection: Option<Objection>,
    /// What entries let through, in the order of the simple commands.
    pub(crate) let_through: Vec<LetThrough>,
}

/// How sure it is that a text is run by a shell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Certainty {
    Certain,
    /// It may be no command at all: that it cannot be read says nothing then.
    Perhaps,
}

/// Judges a command, of which the scan has found `found`.
///
/// Must run on the parser's thread.
pub(crate) fn judge(asked: &Asked<'_>, found: Found, certainty: Certainty) -> Judgement {
    let simples = normalise(asked.command, found, asked.place);
    judged(&simples, asked, certainty)
}

/// As [`judge`], on the thread of whoever asks, if that is bounded.
pub(crate) fn judge_near(
    asked: &Asked<'_>,
    found: Found,
    certainty: Certainty,
) -> Result<Judgement, Beyond> {
    let simples = normalise_near(asked.command, found, asked.place)?;
    if !simples
        .iter()
        .all(|simple| asked.rules.is_soon_asked(simple))
    {
        return Err(Beyond);
    }
    Ok(judged(&simples, asked, certainty))
}

fn judged(simples: &[Simple], asked: &Asked<'_>, certainty: Certainty) -> Judgement {
    let mut judgement = Judgement::default();
    for simple in simples {
        let unreadable =
            simple.program == pseudo::UNPARSABLE || simple.program == pseudo::UNKNOWN_PROGRAM;
        if certainty == Certainty::Perhaps && unreadable {
            continue;
        }
        let Some(found) = objection(simple, asked, &mut judgement.let_through) else {
            continue;
        };
        if found.rule.tier == Tier::Catastrophic {
            judgement.objection = Some(found);
            return judgement;
        }
        judgement.objection = judgement.objection.or(Some(found));
    }
    judgement
}

/// The severest that speaks against one simple command.
fn objection(
    simple: &Simple,
    asked: &Asked<'_>,
    let_through: &mut Vec<LetThrough>,
) -> Option<Objection> {
    let hit = asked.rules.severest(simple, asked, let_through)?;
    Some(Objection::of(hit, simple))
}

/// All that speaks against one simple command.
pub(crate) fn objections(
    simple: &Simple,
    asked: &Asked<'_>,
    let_through: &mut Vec<LetThrough>,
) -> Vec<Objection> {
    let hits = asked.rules.all(simple, asked, let_through);
    hits.into_iter()
        .map(|hit| Objection::of(hit, simple))
        .collect()
}

impl Objection {
    fn of(hit: Hit, simple: &Simple) -> Self {
        let unparsable = (simple.program == pseudo::UNPARSABLE)
            .then(|| simple.args.first().map(|word| word.shown().into_owned()))
            .flatten();
        let expired = || {
            let entry = hit.expired?;
            let end = entry.expires?;
            let id = entry.id;
            Some(format!(
                "the entry `{id}`, which let it through, ended at {end}"
            ))
        };
        Self {
            rule: hit.rule,
            span: hit.span,
            detail: unparsable.or_else(expired),
        }
    }
}

#[cfg(test)]
mod tests {
    use jiff::Timestamp;

    use super::*;
    use crate::command::rules::{RuleFile, RuleSet};
    use crate::place::Place;

    #[test]
    fn what_added_rules_may_take_long_about_is_not_judged_near() {
        let rule = |id: &str, program: &str, more: &str| {
            format!(
                "[[rule]]\nid = \"{id}\"\ntier = \"dangerous\"\nprograms = [\"{program}\"]\n\
                 reason = \"r\"\nsafer = \"s\"\n{more}deny = [\"{program} x\"]\n"
            )
        };
        let many: String = (0..17)
            .map(|n| rule(&format!("team.m{n}"), "many", ""))
            .collect();
        let text = [
            "version = 1\n".to_owned(),
            rule("team.few", "few", ""),
            rule("team.text", "texts", "text = \"x\"\n"),
            rule("team.line", "lines", "line = \"x\"\n"),
            many,
        ]
        .concat();
        let mut rules = RuleSet::default();
        let file = RuleFile::parse("team.toml", text).unwrap();
        rules.add(&file).unwrap();
        let place = Place::new("/srv/app", None);
        let check = |command: &str, near: bool| {
            let asked = Asked {
                command,
                place: &place,
                rules: &rules,
                now: Timestamp::UNIX_EPOCH,
            };
            let judged = judge_near(&asked, Found::default(), Certainty::Certain);
            assert_eq!(judged.is_ok(), near, "{command}");
            let objection = judge(&asked, Found::default(), Certainty::Certain).objection;
            assert_eq!(objection.is_some(), command != "ls; wc", "{command}");
        };
        check("ls; wc", true);
        check("few x; ls", true);
        check("ls; texts x", false);
        check("lines x", false);
        check("many x", false);
    }
}
