//! The policy file, format version 1, as it is written down.

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::OnceLock;

use regex::{Regex, RegexBuilder};
use serde::Deserialize;

use crate::policy::argument::ArgumentPath;
use crate::policy::declared_tool::{DeclaredTool, ToolKind};
use crate::policy::tool_pattern::ToolPattern;

/// The version of the format that this release reads.
pub const POLICY_VERSION: u32 = 1;

/// The largest program that one pattern may compile to, in bytes.
const PATTERN_BYTES_MAX: usize = 1 << 20;

/// Why a policy file is refused. Every message names the place in the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolicyRefused {
    /// The file is of another version of the format.
    #[error("version: {found} is not {POLICY_VERSION}, the version this release reads")]
    Version {
        /// The version that the file names.
        found: u32,
    },
    /// A field that must say something is empty.
    #[error("{place}: must not be empty")]
    Empty {
        /// The field, for example `deny[2].tool`.
        place: String,
    },
    /// A path into the arguments has an empty step.
    #[error("{place}: {path:?} is not a dotted path such as `command` or `edits.0.path`")]
    Path {
        /// The field.
        place: String,
        /// The refused path.
        path: String,
    },
    /// An argument without a pattern, or a pattern without an argument.
    #[error("{place}: `argument` and `pattern` go together; only one of them is there")]
    HalfMatch {
        /// The rule.
        place: String,
    },
    /// A pattern is not a regular expression, or too large a one.
    #[error("{place}: {error}")]
    Pattern {
        /// The field.
        place: String,
        /// What is wrong with it.
        error: String,
    },
    /// The file says which rules the guards know, to a reader that makes no guards.
    #[error("{place}: is for the guards; read this file as a `DeclaredPolicy`, or leave it out")]
    ForGuards {
        /// The field.
        place: &'static str,
    },
    /// Two rules have one id.
    #[error("{place}: the id {id:?} is taken by an earlier rule")]
    DuplicateId {
        /// The field.
        place: String,
        /// The id.
        id: String,
    },
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PolicyFile {
    version: u32,
    #[serde(default)]
    allow: Vec<RuleFile>,
    #[serde(default)]
    deny: Vec<RuleFile>,
    #[serde(default)]
    rewrite: Vec<RewriteFile>,
    set: Option<String>,
    #[serde(default)]
    rules: Vec<PathBuf>,
    #[serde(default)]
    tools: Vec<ToolFile>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct ToolFile {
    tool: String,
    kind: ToolKind,
    argument: Option<String>,
}

/// What a policy file says to whoever makes the guards.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct GuardSettings {
    /// The name of the shipped set of rules, if the file chooses one.
    pub set: Option<String>,
    /// Files of further rules, as they are written: relative to the policy file.
    pub rules: Vec<PathBuf>,
    /// Tools that the file declares, in its order.
    pub tools: Vec<DeclaredTool>,
}

impl PolicyFile {
    pub(crate) fn take_guard_settings(&mut self) -> Result<GuardSettings, PolicyRefused> {
        let tools = std::mem::take(&mut self.tools).into_iter().enumerate();
        Ok(GuardSettings {
            set: self.set.take(),
            rules: std::mem::take(&mut self.rules),
            tools: tools
                .map(|(n, tool)| tool.compile(&format!("tools[{n}]")))
                .collect::<Result<_, _>>()?,
        })
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    id: Option<String>,
    tool: String,
    argument: Option<String>,
    pattern: Option<String>,
    reason: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct RewriteFile {
    id: Option<String>,
    tool: String,
    argument: String,
    pattern: String,
    replace: String,
    reason: Option<String>,
}

/// A rule of the lists `allow` and `deny`.
#[derive(Debug)]
pub(crate) struct Rule {
    pub(crate) id: String,
    pub(crate) tool: ToolPattern,
    pub(crate) argument: Option<(ArgumentPath, Pattern)>,
    pub(crate) reason: Option<String>,
}

/// A rule of the list `rewrite`.
#[derive(Debug)]
pub(crate) struct RewriteRule {
    pub(crate) id: String,
    pub(crate) tool: ToolPattern,
    pub(crate) argument: ArgumentPath,
    pub(crate) pattern: Pattern,
    pub(crate) replace: String,
    pub(crate) reason: Option<String>,
}

/// A regular expression that is checked when the file is read and compiled when it is first asked:
/// a hook call that meets none of a file's rules pays for none of their patterns.
#[derive(Debug)]
pub(crate) struct Pattern {
    text: String,
    compiled: OnceLock<Option<Regex>>,
}

#[derive(Debug)]
pub(crate) struct Rules {
    pub(crate) allow: Vec<Rule>,
    pub(crate) deny: Vec<Rule>,
    pub(crate) rewrite: Vec<RewriteRule>,
}

impl TryFrom<PolicyFile> for Rules {
    type Error = PolicyRefused;

    fn try_from(file: PolicyFile) -> Result<Self, PolicyRefused> {
        if file.version != POLICY_VERSION {
            return Err(PolicyRefused::Version {
                found: file.version,
            });
        }
        let for_guards = [
            ("set", file.set.is_some()),
            ("rules", !file.rules.is_empty()),
            ("tools", !file.tools.is_empty()),
        ];
        if let Some((place, _)) = for_guards.into_iter().find(|(_, given)| *given) {
            return Err(PolicyRefused::ForGuards { place });
        }
        let mut ids = HashSet::new();
        Ok(Self {
            allow: compile(file.allow, "allow", &mut ids, RuleFile::compile)?,
            deny: compile(file.deny, "deny", &mut ids, RuleFile::compile)?,
            rewrite: compile(file.rewrite, "rewrite", &mut ids, RewriteFile::compile)?,
        })
    }
}

type Ids = HashSet<String>;

fn compile<F, R>(
    files: Vec<F>,
    list: &str,
    ids: &mut Ids,
    one: impl Fn(F, &str, &mut Ids) -> Result<R, PolicyRefused>,
) -> Result<Vec<R>, PolicyRefused> {
    let numbered = files.into_iter().enumerate();
    numbered
        .map(|(n, file)| one(file, &format!("{list}[{n}]"), ids))
        .collect()
}

impl ToolFile {
    fn compile(self, place: &str) -> Result<DeclaredTool, PolicyRefused> {
        let argument = self.argument.map(|path| argument_path(path, place));
        Ok(DeclaredTool {
            tool: tool_pattern(&self.tool, place)?,
            kind: self.kind,
            argument: argument.transpose()?,
        })
    }
}

impl RuleFile {
    fn compile(self, place: &str, ids: &mut Ids) -> Result<Rule, PolicyRefused> {
        let argument = match (self.argument, self.pattern) {
            (Some(path), Some(pattern)) => {
                Some((argument_path(path, place)?, Pattern::new(pattern, place)?))
            }
            (None, None) => None,
            _ => {
                return Err(PolicyRefused::HalfMatch {
                    place: place.to_owned(),
                });
            }
        };
        Ok(Rule {
            id: rule_id(self.id, place, ids)?,
            tool: tool_pattern(&self.tool, place)?,
            argument,
            reason: self.reason,
        })
    }
}

impl RewriteFile {
    fn compile(self, place: &str, ids: &mut Ids) -> Result<RewriteRule, PolicyRefused> {
        Ok(RewriteRule {
            id: rule_id(self.id, place, ids)?,
            tool: tool_pattern(&self.tool, place)?,
            argument: argument_path(self.argument, place)?,
            pattern: Pattern::new(self.pattern, place)?,
            replace: self.replace,
            reason: self.reason,
        })
    }
}

fn rule_id(id: Option<String>, place: &str, ids: &mut Ids) -> Result<String, PolicyRefused> {
    let id = id.unwrap_or_else(|| format!("policy.{place}"));
    let place = || format!("{place}.id");
    if id.is_empty() {
        return Err(PolicyRefused::Empty { place: place() });
    }
    if !ids.insert(id.clone()) {
        return Err(PolicyRefused::DuplicateId { place: place(), id });
    }
    Ok(id)
}

fn tool_pattern(tool: &str, place: &str) -> Result<ToolPattern, PolicyRefused> {
    if tool.is_empty() {
        return Err(PolicyRefused::Empty {
            place: format!("{place}.tool"),
        });
    }
    Ok(ToolPattern::new(tool))
}

fn argument_path(path: String, place: &str) -> Result<ArgumentPath, PolicyRefused> {
    ArgumentPath::new(&path).ok_or_else(|| PolicyRefused::Path {
        place: format!("{place}.argument"),
        path,
    })
}

impl Pattern {
    fn new(text: String, place: &str) -> Result<Self, PolicyRefused> {
        match regex_syntax::parse(&text) {
            Ok(_) => Ok(Self {
                text,
                compiled: OnceLock::new(),
            }),
            Err(error) => Err(PolicyRefused::Pattern {
                place: format!("{place}.pattern"),
                error: error.to_string(),
            }),
        }
    }

    /// The compiled pattern, or `None` when it is too large to be one.
    pub(crate) fn regex(&self) -> Option<&Regex> {
        let compile = || {
            RegexBuilder::new(&self.text)
                .size_limit(PATTERN_BYTES_MAX)
                .build()
                .ok()
        };
        self.compiled.get_or_init(compile).as_ref()
    }
}
