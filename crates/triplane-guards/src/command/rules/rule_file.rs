//! A rule file of a user: read, checked and compiled once for each content.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, Read as _};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use sha2::{Digest as _, Sha256};

use crate::command::rules::declared::{self, Wrong, line_column};
use crate::command::rules::entry::Entry;
use crate::command::rules::piecewise;
use crate::command::rules::plain_pattern::is_plain;
use crate::command::rules::refused::RuleFileRefused;
use crate::command::rules::rule::{Program, Rule, Text, texts};

/// The longest rule file that is read, in bytes.
const BYTES_MAX: u64 = 1 << 20;

/// How many contents stay compiled; beyond them, all are forgotten and compiled anew.
const COMPILED_MAX: usize = 64;

/// A rule file, compiled. Clones share what was compiled.
#[derive(Debug, Clone)]
pub struct RuleFile {
    pub(crate) path: PathBuf,
    pub(crate) content: Arc<Content>,
}

/// What a content says, wherever it is kept.
#[derive(Debug)]
pub(crate) struct Content {
    text: String,
    pub(crate) programs: Vec<DeclaredProgram>,
    pub(crate) rules: Vec<DeclaredRule>,
    pub(crate) entries: Vec<DeclaredEntry>,
}

#[derive(Debug)]
pub(crate) struct DeclaredProgram {
    pub(crate) names: Vec<String>,
    pub(crate) sub: String,
    pub(crate) style: declared::Style,
    pub(crate) values: Vec<Text>,
    pub(crate) help: Vec<Text>,
    pub(crate) help_anywhere: bool,
    pub(crate) span: Range<usize>,
}

#[derive(Debug)]
pub(crate) struct DeclaredRule {
    pub(crate) rule: Arc<Rule>,
    pub(crate) programs: Vec<String>,
    pub(crate) deny: Vec<Case>,
    pub(crate) allow: Vec<Case>,
    pub(crate) span: Range<usize>,
}

#[derive(Debug)]
pub(crate) struct DeclaredEntry {
    pub(crate) entry: Entry,
    /// Where the rule is named.
    pub(crate) rule: Range<usize>,
    pub(crate) command: Range<usize>,
    pub(crate) span: Range<usize>,
}

#[derive(Debug)]
pub(crate) struct Case {
    pub(crate) command: String,
    pub(crate) span: Range<usize>,
}

impl RuleFile {
    /// Reads the file at `path`. A content that this process has compiled before is not compiled
    /// again, whatever the path.
    ///
    /// # Errors
    ///
    /// Returns [`RuleFileRefused`] when the file cannot be read, is longer than 1 MiB, or is wrong.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, RuleFileRefused> {
        let path = path.as_ref();
        let unreadable = |error| RuleFileRefused::Unreadable {
            path: path.to_owned(),
            error,
        };
        let too_long = |bytes| RuleFileRefused::TooLong {
            path: path.to_owned(),
            bytes,
            max: BYTES_MAX,
        };
        let file = File::open(path).map_err(unreadable)?;
        let bytes = file.metadata().map_err(unreadable)?.len();
        if bytes > BYTES_MAX {
            return Err(too_long(bytes));
        }
        // At once: a buffer that grows is read into in a dozen steps. The one byte more meets the end.
        let mut text = Vec::with_capacity(usize::try_from(bytes).unwrap_or(0) + 1);
        // The length that was asked is no promise, and half a file would be rules that are missing.
        let read = file.take(BYTES_MAX + 1).read_to_end(&mut text);
        let bytes = read.map_err(unreadable)? as u64;
        if bytes > BYTES_MAX {
            return Err(too_long(bytes));
        }
        let text = String::from_utf8(text)
            .map_err(|error| unreadable(io::Error::new(io::ErrorKind::InvalidData, error)))?;
        Self::parse(path, text)
    }

    /// Reads `text` as the content of the file at `path`.
    ///
    /// # Errors
    ///
    /// Returns [`RuleFileRefused::Wrong`] for the first thing that is wrong.
    pub fn parse(path: impl AsRef<Path>, text: impl AsRef<str>) -> Result<Self, RuleFileRefused> {
        let text = text.as_ref();
        let path = path.as_ref().to_owned();
        match content(compiled(), text) {
            Ok(content) => Ok(Self { path, content }),
            Err(wrong) => Err(refused(&path, text, wrong)),
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// How many rules it declares.
    pub fn rules(&self) -> usize {
        self.content.rules.len()
    }

    /// The refusal of this file for something that is wrong with it among others.
    pub(crate) fn refuse(&self, span: Range<usize>, message: impl Into<String>) -> RuleFileRefused {
        refused(&self.path, &self.content.text, Wrong::new(span, message))
    }

    /// `file:line:column` of a place in this file.
    pub(crate) fn place(&self, span: &Range<usize>) -> String {
        let (line, column) = line_column(&self.content.text, span.start);
        format!("{}:{line}:{column}", self.path.display())
    }
}

fn refused(path: &Path, text: &str, wrong: Wrong) -> RuleFileRefused {
    let (line, column) = line_column(text, wrong.span.start);
    RuleFileRefused::Wrong {
        path: path.to_owned(),
        line,
        column,
        message: wrong.message,
    }
}

/// What has been compiled, by the SHA-256 digest of its text: neither path nor time says what a file
/// holds. It lives as long as the process. On a disk it would be one more file that decides what is
/// refused, and whoever is refused could write it.
type Compiled = Mutex<HashMap<[u8; 32], Arc<Content>>>;

fn compiled() -> &'static Compiled {
    static COMPILED: OnceLock<Compiled> = OnceLock::new();
    COMPILED.get_or_init(Mutex::default)
}

/// What `text` says, compiled unless `compiled` holds it already. What is wrong is never held.
fn content(compiled: &Compiled, text: &str) -> Result<Arc<Content>, Wrong> {
    // An entry is inserted whole or not at all.
    let known = || compiled.lock().unwrap_or_else(PoisonError::into_inner);
    let digest: [u8; 32] = Sha256::digest(text.as_bytes()).into();
    if let Some(content) = known().get(&digest) {
        return Ok(Arc::clone(content));
    }
    let content = Arc::new(Content::of(text)?);
    let mut known = known();
    if known.len() >= COMPILED_MAX {
        known.clear();
    }
    known.insert(digest, Arc::clone(&content));
    Ok(content)
}

impl Content {
    /// Compiles `text`.
    fn of(text: &str) -> Result<Self, Wrong> {
        let file = piecewise::read(text, |pattern| {
            if is_plain(pattern) {
                return Ok(());
            }
            regex_syntax::parse(pattern)
                .map(drop)
                .map_err(|error| error.to_string())
        })?;
        let entries = file.allow.into_iter().map(|declared| {
            let span = declared.id.span();
            let rule = declared.rule.span();
            let command = declared.command.span();
            Ok(DeclaredEntry {
                entry: Entry::of(declared)?,
                rule,
                command,
                span,
            })
        });
        Ok(Self {
            text: text.to_owned(),
            programs: file.program.into_iter().map(DeclaredProgram::of).collect(),
            rules: file.rule.into_iter().map(DeclaredRule::of).collect(),
            entries: entries.collect::<Result<_, Wrong>>()?,
        })
    }
}

impl DeclaredProgram {
    fn of(declared: declared::Program) -> Self {
        Self {
            span: declared.names.span(),
            names: declared.names.into_inner(),
            sub: declared.sub,
            style: declared.style,
            values: texts(declared.values).into_owned(),
            help: texts(declared.help).into_owned(),
            help_anywhere: declared.help_anywhere,
        }
    }

    /// What is known of a program of which nothing was declared.
    pub(crate) fn nothing(name: String) -> Program {
        Program {
            name: name.into(),
            style: declared::Style::default(),
            values: Vec::new().into(),
            subs: Vec::new().into(),
            help: Vec::new().into(),
            help_anywhere: false,
            rules: Vec::new().into(),
        }
    }
}

impl DeclaredRule {
    fn of(mut declared: declared::Rule) -> Self {
        Self {
            span: declared.id.span(),
            programs: std::mem::replace(
                &mut declared.programs,
                toml::Spanned::new(0..0, Vec::new()),
            )
            .into_inner(),
            deny: cases(
                std::mem::replace(&mut declared.deny, toml::Spanned::new(0..0, Vec::new()))
                    .into_inner(),
            ),
            allow: cases(std::mem::take(&mut declared.allow)),
            rule: Arc::new(Rule::of(declared)),
        }
    }
}

fn cases(declared: Vec<toml::Spanned<String>>) -> Vec<Case> {
    declared
        .into_iter()
        .map(|case| Case {
            span: case.span(),
            command: case.into_inner(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(nth: usize) -> String {
        format!(
            "version = 1\n[[rule]]\nid = \"own.rule-{nth}\"\ntier = \"dangerous\"\n\
             programs = [\"own-{nth}\"]\nreason = \"r\"\nsafer = \"s\"\ndeny = [\"own-{nth}\"]\n"
        )
    }

    #[test]
    fn a_content_is_compiled_once_and_one_byte_more_is_another_content() {
        let compiled = Compiled::default();
        let read = |text: &str| content(&compiled, text).unwrap();
        let first = read(&text(1));
        assert!(Arc::ptr_eq(&first, &read(&text(1))));
        assert!(!Arc::ptr_eq(&first, &read(&(text(1) + "\n"))));
        assert_eq!(compiled.lock().unwrap().len(), 2);
    }

    #[test]
    fn a_wrong_content_is_not_kept_and_is_refused_each_time() {
        let compiled = Compiled::default();
        let wrong = text(1).replace("deny", "denies");
        for _ in 0..2 {
            let wrong = content(&compiled, &wrong).unwrap_err();
            assert!(wrong.message.contains("denies"), "{}", wrong.message);
        }
        assert!(compiled.lock().unwrap().is_empty());
    }

    #[test]
    fn more_contents_than_are_kept_are_still_told_apart() {
        let compiled = Compiled::default();
        for nth in (0..=COMPILED_MAX).chain(0..=COMPILED_MAX) {
            let content = content(&compiled, &text(nth)).unwrap();
            assert_eq!(content.rules[0].programs, [format!("own-{nth}")]);
            assert!(compiled.lock().unwrap().len() <= COMPILED_MAX);
        }
    }

    #[test]
    fn one_content_at_two_paths_names_the_place_in_each() {
        for path in ["a.toml", "b/c.toml"] {
            let file = RuleFile::parse(path, text(1)).unwrap();
            let span = &file.content.rules[0].span;
            assert_eq!(file.place(span), format!("{path}:3:6"));
        }
    }
}
