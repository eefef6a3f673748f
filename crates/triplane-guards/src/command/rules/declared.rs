//! A rule file as it is written down, format version 1.
//!
//! The build reads the shipped files through this module too, so that both hold one format. It names
//! nothing else of the crate for that reason.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::ops::Range;

use serde::Deserialize;
use toml::Spanned;

/// The version of the format that this release reads.
pub(crate) const VERSION: u32 = 1;

/// A rule file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct File {
    pub(crate) version: Spanned<u32>,
    #[serde(default)]
    pub(crate) program: Vec<Program>,
    #[serde(default)]
    pub(crate) rule: Vec<Rule>,
    #[serde(default)]
    pub(crate) allow: Vec<Allow>,
}

/// How the arguments of a program are read.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Program {
    pub(crate) names: Spanned<Vec<String>>,
    /// The subcommand that these options belong to; empty for the program itself.
    #[serde(default)]
    pub(crate) sub: String,
    #[serde(default)]
    pub(crate) style: Style,
    /// Options that take a value of their own.
    #[serde(default)]
    pub(crate) values: Vec<String>,
    /// What asks for help beside `--help`: options, and words that stand alone behind a subcommand.
    #[serde(default)]
    pub(crate) help: Vec<String>,
    /// Whether options that ask for help do so behind operands too.
    #[serde(default)]
    pub(crate) help_anywhere: bool,
}

/// One rule, with the cases that are its tests.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub(crate) id: Spanned<String>,
    pub(crate) tier: Tier,
    #[serde(default)]
    pub(crate) set: Set,
    pub(crate) programs: Spanned<Vec<String>>,
    #[serde(default)]
    pub(crate) sub: Vec<String>,
    #[serde(default)]
    pub(crate) flags: Vec<Vec<String>>,
    #[serde(default)]
    pub(crate) unless: Vec<String>,
    #[serde(default)]
    pub(crate) on: On,
    #[serde(default)]
    pub(crate) scope: Vec<ScopeName>,
    #[serde(default)]
    pub(crate) text: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) line: Option<Spanned<String>>,
    #[serde(default)]
    pub(crate) operands_min: usize,
    pub(crate) reason: Spanned<String>,
    pub(crate) safer: Spanned<String>,
    pub(crate) deny: Spanned<Vec<Spanned<String>>>,
    #[serde(default)]
    pub(crate) allow: Vec<Spanned<String>>,
}

/// One entry of the list of what is let through.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Allow {
    pub(crate) id: Spanned<String>,
    pub(crate) rule: Spanned<String>,
    pub(crate) command: Spanned<String>,
    #[serde(default)]
    pub(crate) folder: Option<Spanned<String>>,
    pub(crate) reason: Spanned<String>,
    #[serde(default)]
    pub(crate) expires: Option<Spanned<toml::Value>>,
}

/// How severe a rule is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Tier {
    /// Follows the mode.
    Dangerous,
    /// Refused in every mode.
    Catastrophic,
}

/// A set of rules that ships with triplane. Each holds all that stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Set {
    /// Aware of the workspace: deleting build output in it is not deleting home.
    #[default]
    Default,
    /// Refuses every form of what can destroy, wherever it leads.
    Strict,
}

/// How the arguments of a program are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Style {
    /// Clustered short options, long options that may be shortened, options anywhere.
    #[default]
    Gnu,
    /// Long options behind one or two hyphens, never clustered.
    Go,
    /// `name=value` operands are options.
    Pairs,
    /// Every argument is an operand.
    Raw,
}

/// Which words a test of a rule looks at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(from = "String")]
pub(crate) enum On {
    #[default]
    Operands,
    First,
    Last,
    /// All operands but the first.
    Rest,
    /// All operands but the last.
    Sources,
    /// The value of this option, whose other names stand behind `|`.
    Option(Cow<'static, str>),
}

impl From<String> for On {
    fn from(name: String) -> Self {
        match name.as_str() {
            "operands" => Self::Operands,
            "first" => Self::First,
            "last" => Self::Last,
            "rest" => Self::Rest,
            "sources" => Self::Sources,
            _ => Self::Option(name.into()),
        }
    }
}

/// A place that a word may lead to, by its name; the order is that of the bits of a set of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ScopeName {
    Inside,
    Temp,
    Workspace,
    Above,
    System,
    Home,
    Outside,
    Switch,
    Secret,
    Device,
    Stream,
    Remote,
    Unknown,
    TempRoot,
}

impl ScopeName {
    /// The set of all `names`, as bits.
    pub(crate) fn bits(names: &[Self]) -> u32 {
        names.iter().fold(0, |set, &name| set | 1 << name as u32)
    }
}

/// What is wrong with a file, and where in it, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wrong {
    pub(crate) span: Range<usize>,
    pub(crate) message: String,
}

impl Wrong {
    pub(crate) fn new(span: Range<usize>, message: impl Into<String>) -> Self {
        Self {
            span,
            message: message.into(),
        }
    }
}

/// Reads a file. What depends on other files is left to the caller.
///
/// `pattern` says what is wrong with a regular expression, if anything is.
///
/// # Errors
///
/// Returns the first thing that is [`Wrong`].
pub(crate) fn read(
    text: &str,
    pattern: impl Fn(&str) -> Result<(), String>,
) -> Result<File, Wrong> {
    let file: File = toml::from_str(text).map_err(|error| {
        // A file of another version is told so, and not which of its fields are unknown.
        other_version(text).unwrap_or_else(|| {
            let span = error.span().unwrap_or(0..0);
            Wrong::new(span, error.message())
        })
    })?;
    file.checked(pattern)
}

impl File {
    /// What [`read`] checks of a file once its text has been read.
    pub(crate) fn checked(
        self,
        pattern: impl Fn(&str) -> Result<(), String>,
    ) -> Result<Self, Wrong> {
        if *self.version.get_ref() != VERSION {
            return Err(version(&self.version));
        }
        let mut ids = BTreeSet::new();
        for program in &self.program {
            not_empty(&program.names, "the names")?;
            if !program.sub.is_empty() && (program.help_anywhere || !program.help.is_empty()) {
                let message =
                    "how help is asked for is said of a program, and not of its subcommand";
                return Err(Wrong::new(program.names.span(), message));
            }
        }
        for rule in &self.rule {
            rule.check(&pattern)?;
            unique(&rule.id, &mut ids)?;
        }
        for entry in &self.allow {
            id(&entry.id)?;
            unique(&entry.id, &mut ids)?;
            said(&entry.reason, "reason")?;
            said(&entry.command, "command")?;
        }
        Ok(self)
    }
}

fn other_version(text: &str) -> Option<Wrong> {
    #[derive(Deserialize)]
    struct Versioned {
        version: Spanned<u32>,
    }
    let found: Versioned = toml::from_str(text).ok()?;
    (*found.version.get_ref() != VERSION).then(|| version(&found.version))
}

fn version(found: &Spanned<u32>) -> Wrong {
    Wrong::new(
        found.span(),
        format!(
            "version {} is not {VERSION}, the version this release reads",
            found.get_ref()
        ),
    )
}

impl Rule {
    fn check(&self, pattern: impl Fn(&str) -> Result<(), String>) -> Result<(), Wrong> {
        id(&self.id)?;
        not_empty(&self.programs, "the programs")?;
        said(&self.reason, "reason")?;
        said(&self.safer, "safer")?;
        if self.deny.get_ref().is_empty() {
            return Err(Wrong::new(
                self.deny.span(),
                format!("rule `{}` has no case that it denies", self.id.get_ref()),
            ));
        }
        let both = self
            .allow
            .iter()
            .find(|case| self.deny.get_ref().contains(case));
        if let Some(case) = both {
            return Err(Wrong::new(
                case.span(),
                "the same command is a case of `deny` and of `allow`",
            ));
        }
        for given in self.text.iter().chain(&self.line) {
            pattern(given.get_ref()).map_err(|error| Wrong::new(given.span(), error))?;
        }
        Ok(())
    }
}

fn id(id: &Spanned<String>) -> Result<(), Wrong> {
    let text = id.get_ref();
    let good = !text.is_empty()
        && text.bytes().all(|byte| {
            byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte)
        });
    if good {
        Ok(())
    } else {
        Err(Wrong::new(
            id.span(),
            format!("the id {text:?} is not lower case with digits, dots and hyphens"),
        ))
    }
}

fn unique<'f>(id: &'f Spanned<String>, ids: &mut BTreeSet<&'f str>) -> Result<(), Wrong> {
    if ids.insert(id.get_ref()) {
        Ok(())
    } else {
        Err(Wrong::new(
            id.span(),
            format!(
                "the id `{}` is taken by an earlier rule or entry of this file",
                id.get_ref()
            ),
        ))
    }
}

fn said(text: &Spanned<String>, field: &str) -> Result<(), Wrong> {
    if text.get_ref().trim().is_empty() {
        Err(Wrong::new(
            text.span(),
            format!("`{field}` must not be empty"),
        ))
    } else {
        Ok(())
    }
}

fn not_empty(names: &Spanned<Vec<String>>, what: &str) -> Result<(), Wrong> {
    if names.get_ref().is_empty() || names.get_ref().iter().any(String::is_empty) {
        Err(Wrong::new(
            names.span(),
            format!("{what} must not be empty"),
        ))
    } else {
        Ok(())
    }
}

/// The line and the column of a place in a text, both from 1; a column counts characters.
pub(crate) fn line_column(text: &str, at: usize) -> (usize, usize) {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    let before = &text[..at];
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    let line = before.matches('\n').count() + 1;
    (line, before[line_start..].chars().count() + 1)
}
