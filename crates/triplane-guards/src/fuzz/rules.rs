//! The loader of rule files.

use std::path::Path;
use std::time::Duration;

use crate::command::rules::plain_pattern::is_plain;
use crate::command::rules::{RuleFile, RuleFileRefused, RuleSet, declared, piecewise};
use crate::fuzz::watch::timed;

/// Reads `input` as a rule file and adds it to what ships.
///
/// # Panics
///
/// Panics when the loader does, when a refusal names a place that the file does not have, when the file
/// says something else read in pieces than read whole, and when an expression is taken that is none.
pub fn rules(input: &[u8]) -> Duration {
    let text = String::from_utf8_lossy(input).into_owned();
    let lines = text.matches('\n').count() + 1;
    reads_alike(&text);
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

fn reads_alike(text: &str) {
    let pattern = |pattern: &str| {
        let parsed = regex_syntax::parse(pattern).map(drop);
        let told = parsed.map_err(|error| error.to_string());
        assert!(!is_plain(pattern) || told.is_ok(), "{pattern:?}: {told:?}");
        told
    };
    let in_pieces = piecewise::read(text, pattern);
    let whole = declared::read(text, pattern);
    assert_eq!(format!("{in_pieces:?}"), format!("{whole:?}"));
}
