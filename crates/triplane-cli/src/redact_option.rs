//! The option `--redact`: what is hidden before anything is stored, signalled or sent.

use std::path::Path;

use anyhow::{Context as _, Result};
use triplane::redaction::{Redaction, RedactionPolicy};

use crate::args::RedactArgs;
use crate::policy_file;

/// What the option asks for: the shipped policy with what the named file adds to it, or none at all
/// for the word `off`. Without the option there is nothing to ask for: a runtime has the shipped
/// policy by itself, and makes it while its store opens.
pub(crate) fn asked(args: &RedactArgs) -> Result<Option<Redaction>> {
    match args.redact.as_deref() {
        None => Ok(None),
        Some(_) => redaction(args).map(Some),
    }
}

/// The shipped policy, with what the named file adds to it, or none at all for the word `off`.
pub(crate) fn redaction(args: &RedactArgs) -> Result<Redaction> {
    match args.redact.as_deref() {
        None => Ok(Redaction::shipped()),
        Some(path) if path == Path::new("off") => Ok(Redaction::off()),
        Some(path) => {
            let policy: RedactionPolicy = policy_file::read("redaction", path)?;
            Redaction::with(&policy).with_context(|| format!("redaction {}", path.display()))
        }
    }
}
