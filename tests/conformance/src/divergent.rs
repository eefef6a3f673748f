//! What cannot be represented, as `divergent.toml` lists it.

use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

use crate::adapter::PROFILES;
use crate::suite::{Outcome, Verdict};

/// The most scenarios that may differ without being meant to.
const DIVERGENT_MAX: usize = 2;

/// Scenarios that cannot come out as recorded.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Divergent {
    #[serde(default, rename = "divergent")]
    entries: Vec<Entry>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    scenario: String,
    /// What was tried, and why it fails.
    attempt: String,
}

impl Divergent {
    pub(crate) fn read(file: &Path) -> anyhow::Result<Self> {
        let text = std::fs::read_to_string(file);
        let text = text.with_context(|| format!("cannot read {}", file.display()))?;
        toml::from_str(&text).with_context(|| format!("{} is not as it should be", file.display()))
    }

    /// Makes divergent what failed and is listed, and returns what is wrong with the list.
    pub(crate) fn judge(&self, outcomes: &mut [Outcome]) -> Vec<String> {
        let mut wrong = Vec::new();
        if self.entries.len() > DIVERGENT_MAX {
            let count = self.entries.len();
            wrong.push(format!(
                "{count} scenarios are divergent; at most {DIVERGENT_MAX} may be"
            ));
        }
        for Entry { scenario, attempt } in &self.entries {
            let mut block = |why: &str| wrong.push(format!("`{scenario}` is divergent, {why}"));
            if attempt.trim().is_empty() {
                block("and no attempt is told");
            }
            let Some(outcome) = outcomes.iter_mut().find(|outcome| outcome.id == *scenario) else {
                block("and there is no such scenario");
                continue;
            };
            if PROFILES.contains(&outcome.profile.as_str()) {
                block("and its profile has a legacy name");
                continue;
            }
            match outcome.verdict {
                Verdict::Failed(_) => outcome.verdict = Verdict::Divergent,
                Verdict::Due | Verdict::Divergent => {}
                Verdict::Passed | Verdict::Deliberate => block("and passes"),
            }
        }
        wrong
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(listed: &[(&str, &str)], wanted: &[&str]) {
        let entries = listed.iter().map(|(scenario, attempt)| Entry {
            scenario: (*scenario).to_owned(),
            attempt: (*attempt).to_owned(),
        });
        let divergent = Divergent {
            entries: entries.collect(),
        };
        let outcome = |id: &str, verdict| Outcome {
            id: id.to_owned(),
            profile: id.split('/').next().unwrap_or_default().to_owned(),
            verdict,
        };
        let mut outcomes = [
            outcome("tool_hooks/fails", Verdict::Failed(String::new())),
            outcome("tool_hooks/passes", Verdict::Passed),
            outcome("broadcaster/fails", Verdict::Failed(String::new())),
        ];
        assert_eq!(divergent.judge(&mut outcomes), wanted);
        let listed = listed.iter().any(|(id, _)| *id == "tool_hooks/fails");
        assert_eq!(outcomes[0].verdict == Verdict::Divergent, listed);
        assert!(matches!(outcomes[2].verdict, Verdict::Failed(_)));
    }

    #[test]
    fn only_what_fails_in_a_profile_without_a_legacy_name_may_be_divergent() {
        check(&[], &[]);
        check(&[("tool_hooks/fails", "tried")], &[]);
        check(
            &[("tool_hooks/passes", "tried")],
            &["`tool_hooks/passes` is divergent, and passes"],
        );
        check(
            &[("broadcaster/fails", "tried")],
            &["`broadcaster/fails` is divergent, and its profile has a legacy name"],
        );
        check(
            &[("tool_hooks/gone", "")],
            &[
                "`tool_hooks/gone` is divergent, and no attempt is told",
                "`tool_hooks/gone` is divergent, and there is no such scenario",
            ],
        );
        let three = [("tool_hooks/fails", "tried"); 3];
        check(&three, &["3 scenarios are divergent; at most 2 may be"]);
    }
}
