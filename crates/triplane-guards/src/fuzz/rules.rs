//! The loader of rule files.

use std::path::Path;
use std::time::Duration;

use crate::command::rules::{RuleFile, RuleFileRefused, RuleSet};
use crate::fuzz::watch::timed;

/// Reads `input` as a rule file and adds it to what ships.
///
/// # Panics
///
/// Panics when the loader does, or when a refusal names a place that the file does not have.
pub fn rules(input: &[u8]) -> Duration {
    let text = String::from_utf8_lossy(input).into_owned();
    let lines = text.matches('\n').count() + 1;
    let (loaded, took) = timed(|| {
        let file = RuleFile::parse(Path::new("team.toml"), text)?;
        RuleSet::default().add(&file)
    });
    if let Err(refused) = loaded {
        let RuleFileRefused::Wrong {
            line,
            column,
            message,
            ..
        } = refused
        else {
            panic!("{refused}");
        };
        assert!(
            (1..=lines).contains(&line) && column >= 1,
            "{line}:{column}"
        );
        assert!(!message.trim().is_empty(), "{line}:{column} says nothing");
    }
    took
}
