//! The cases beside the rules of files, held against what the rules say.

use std::fmt;
use std::path::Path;

use jiff::Timestamp;

use crate::command::explain::explain_under;
use crate::command::parser_thread::NoAnswer;
use crate::command::rules::{RuleFile, RuleFileRefused, RuleSet, Set};
use crate::place::{Place, absolute};

/// The workspace that cases are judged in.
pub const CASE_ROOT: &str = "/srv/app";
/// The home folder that cases are judged with.
pub const CASE_HOME: &str = "/home/dev";

/// A case of a file that does not hold, or an expression that cannot be asked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrokenCase {
    /// `file:line:column` of the case.
    pub place: String,
    /// The rule, or the entry, that it stands beside.
    pub id: String,
    /// The command, or the expression.
    pub command: String,
    /// What is wrong with it.
    pub wrong: String,
}

impl fmt::Display for BrokenCase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            place,
            id,
            command,
            wrong,
        } = self;
        write!(f, "{place}: {id}: {command:?}: {wrong}")
    }
}

impl RuleFile {
    /// Holds the cases of this file against its own rules, as [`RuleSet::check`] does.
    ///
    /// # Errors
    ///
    /// Returns [`CheckFailed`] when the file does not go with what ships, or when no thread could be
    /// started.
    pub fn check(&self) -> Result<Vec<BrokenCase>, CheckFailed> {
        let mut rules = RuleSet::default();
        rules.add(self)?;
        Ok(rules.check()?)
    }
}

/// Why cases were not checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckFailed {
    /// The file is not taken.
    #[error(transparent)]
    Refused(#[from] RuleFileRefused),
    /// A case could not be judged.
    #[error(transparent)]
    NoAnswer(#[from] NoAnswer),
}

impl RuleSet {
    /// The cases of the added files that do not hold, in their order.
    ///
    /// A rule must speak against each of its `deny` cases and against none of its `allow` cases,
    /// whatever other rules say; an entry must name a command that its rule speaks against. An
    /// expression that is too large to be asked is told beside them, with its rule's place. Cases
    /// are judged in the workspace [`CASE_ROOT`] with the home folder [`CASE_HOME`], and rules of
    /// both sets are asked.
    ///
    /// # Errors
    ///
    /// Returns [`NoAnswer`] when no thread could be started.
    pub fn check(&self) -> Result<Vec<BrokenCase>, NoAnswer> {
        let rules = self.clone().with_set(Set::Strict);
        let mut broken = Vec::new();
        for file in self.files() {
            for declared in &file.content.rules {
                let id = declared.rule.id.as_ref();
                if let Some(pattern) = declared.rule.too_large() {
                    broken.push(BrokenCase {
                        place: file.place(&declared.span),
                        id: id.to_owned(),
                        command: pattern.to_owned(),
                        wrong: "the expression is too large, so it counts as found in every text: \
                                repeat less"
                            .to_owned(),
                    });
                }
                let cases = (declared.deny.iter().map(|case| (case, true)))
                    .chain(declared.allow.iter().map(|case| (case, false)));
                for (case, denies) in cases {
                    let wrong = match rules.speaks_against(id, &case.command, CASE_ROOT)? {
                        Spoke::Yes if !denies => "the rule speaks against it".to_owned(),
                        Spoke::No if denies => "the rule does not speak against it".to_owned(),
                        Spoke::Unread(why) => why,
                        Spoke::Yes | Spoke::No => continue,
                    };
                    broken.push(BrokenCase {
                        place: file.place(&case.span),
                        id: id.to_owned(),
                        command: case.command.clone(),
                        wrong,
                    });
                }
            }
            for declared in &file.content.entries {
                let entry = &declared.entry;
                let folder = absolute(&entry.folder().to_string_lossy(), CASE_ROOT);
                let wrong = match rules.speaks_against(&entry.rule, &entry.command, &folder)? {
                    Spoke::Yes => continue,
                    Spoke::No => format!("`{}` does not speak against it", entry.rule),
                    Spoke::Unread(why) => why,
                };
                broken.push(BrokenCase {
                    place: file.place(&declared.command),
                    id: entry.id.clone(),
                    command: entry.command.clone(),
                    wrong,
                });
            }
        }
        Ok(broken)
    }

    fn speaks_against(&self, id: &str, command: &str, cwd: &str) -> Result<Spoke, NoAnswer> {
        let mut place = Place::new(CASE_ROOT, Some(Path::new(CASE_HOME)));
        cwd.clone_into(&mut place.cwd);
        let explanation = match explain_under(self, command, &place, Timestamp::UNIX_EPOCH) {
            Ok(explanation) => explanation,
            // The command's fault, which is told with its place.
            Err(NoAnswer::Failed) => {
                return Ok(Spoke::Unread(format!(
                    "it is not read: {}",
                    NoAnswer::Failed
                )));
            }
            Err(other) => return Err(other),
        };
        if let Some(refusal) = explanation.refusal {
            return Ok(Spoke::Unread(format!("it is not read: {refusal}")));
        }
        let mut simples = explanation.simples.iter();
        Ok(if simples.any(|simple| self.speaks(id, simple, &place)) {
            Spoke::Yes
        } else {
            Spoke::No
        })
    }
}

/// Whether a rule spoke against a command.
enum Spoke {
    Yes,
    No,
    /// The command was not read, and why.
    Unread(String),
}
