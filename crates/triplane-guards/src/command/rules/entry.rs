//! Entries of the list of what is let through although a dangerous rule speaks against it.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use jiff::civil::{Date, Time};
use jiff::tz::Offset;

use crate::command::normalise::{Simple, program_name};
use crate::command::parse::plain;
use crate::command::rules::declared::{self, Wrong};
use crate::command::rules::rule::RuleRef;
use crate::place::{Place, absolute};

/// One entry: a command that one rule does not stop, why, and until when.
///
/// It speaks of the command as it is written, run in its folder: either the whole of what is judged
/// is that text, or one of its simple commands has exactly those words. It speaks of no command on
/// another machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The stable id, unique among rules and entries.
    pub id: String,
    /// The id of the rule that it silences.
    pub rule: String,
    /// The command.
    pub command: String,
    /// Why it is let through.
    pub reason: String,
    /// When it ends, if it does.
    pub expires: Option<Timestamp>,
    folder: PathBuf,
    words: Vec<String>,
}

/// A finding of a rule that an entry has silenced, or would have before it expired.
#[derive(Debug, Clone)]
pub struct LetThrough {
    /// The rule that spoke.
    pub rule: RuleRef,
    /// The entry.
    pub entry: Entry,
}

impl Entry {
    /// The entry that a file declares.
    pub(crate) fn of(declared: declared::Allow) -> Result<Self, Wrong> {
        let folder = match declared.folder {
            None => PathBuf::new(),
            Some(folder) => {
                let span = folder.span();
                let folder = PathBuf::from(folder.into_inner());
                if folder.is_absolute() {
                    let message = "`folder` is relative to the workspace";
                    return Err(Wrong::new(span, message));
                }
                folder
            }
        };
        let expires = declared.expires.as_ref().map(expiry).transpose()?;
        let command = declared.command.into_inner().trim().to_owned();
        let mut words: Vec<String> = plain(&command)
            .into_iter()
            .flatten()
            .map(|(word, _)| word.to_owned())
            .collect();
        if let Some(program) = words.first_mut() {
            *program = program_name(program);
        }
        Ok(Self {
            id: declared.id.into_inner(),
            rule: declared.rule.into_inner(),
            reason: declared.reason.into_inner(),
            command,
            expires,
            folder,
            words,
        })
    }

    /// Whether the entry has ended at `now`.
    pub fn is_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }

    /// The folder that the command is let through in, relative to the workspace.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Whether the entry speaks of `simple`, a part of `command`.
    pub(crate) fn speaks_of(&self, simple: &Simple, command: &str, place: &Place) -> bool {
        let folder = absolute(&self.folder.to_string_lossy(), &place.root);
        if command.trim() == self.command {
            return place.cwd == folder;
        }
        !simple.remote
            && matches!(simple.cwd.as_ref(), [Some(cwd)] if *cwd == folder)
            && self.words.split_first().is_some_and(|(program, args)| {
                *program == simple.program
                    && args.len() == simple.args.len()
                    && args
                        .iter()
                        .zip(&simple.args)
                        .all(|(wanted, word)| word.literal() == Some(wanted))
            })
    }
}

/// The end of an entry: an instant, or a day, whose end in UTC counts.
fn expiry(written: &toml::Spanned<toml::Value>) -> Result<Timestamp, Wrong> {
    let text = match written.get_ref() {
        toml::Value::Datetime(moment) => moment.to_string(),
        toml::Value::String(text) => text.clone(),
        _ => String::new(),
    };
    let instant = text.parse::<Timestamp>().ok().or_else(|| {
        let day: Date = text.parse().ok()?;
        // A date with a time but without an offset is no day.
        if text.len() != "2027-01-31".len() {
            return None;
        }
        let end = day.tomorrow().ok()?.to_datetime(Time::midnight());
        Offset::UTC.to_timestamp(end).ok()
    });
    instant.ok_or_else(|| {
        Wrong::new(
            written.span(),
            "`expires` is a date of RFC 3339, such as 2027-01-31 or 2027-01-31T12:00:00Z",
        )
    })
}
