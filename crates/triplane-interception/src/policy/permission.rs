//! The permission policy: what a user's file says about a call.

use std::fmt;

use serde::Deserialize;
use serde_json::Value;

use crate::guard::{Finding, Offence};
use crate::policy::argument::text_of;
use crate::policy::declaration::{PolicyFile, PolicyRefused, Rule, Rules};
use crate::tool_call::ToolCall;

/// A declared, immutable policy that can only narrow what guards let pass.
///
/// Three lists, each per tool and argument pattern:
///
/// - `deny`: a call that matches is refused;
/// - `allow`: a tool that any of these rules names may be called only as one of them says;
/// - `rewrite`: the argument is changed, then guards and policy judge the changed call.
///
/// Nothing in it overrules a guard. Deserialises from JSON or TOML, `version = 1`; unknown fields
/// are refused, and every error names its place.
///
/// ```
/// use triplane_interception::PermissionPolicy;
///
/// let policy: PermissionPolicy = serde_json::from_str(r#"{
///     "version": 1,
///     "rewrite": [{"tool": "Bash", "argument": "command", "pattern": "^npm install$", "replace": "npm ci"}]
/// }"#)?;
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Deserialize)]
#[serde(try_from = "PolicyFile")]
pub struct PermissionPolicy {
    rules: Rules,
}

/// A rewrite that a policy asks for.
#[derive(Debug, Clone, PartialEq)]
pub struct Rewritten {
    /// The arguments, whole, as the call is to be made.
    pub arguments: Value,
    /// The ids of the rules that changed them, in order, joined by a comma.
    pub rule: String,
    /// Why.
    pub reason: String,
}

impl PermissionPolicy {
    /// The refusal of a call that the lists `deny` and `allow` do not let pass.
    ///
    /// # Errors
    ///
    /// The finding names the rule. A rule whose pattern cannot be compiled refuses what it might
    /// have matched.
    pub fn permit(&self, call: &ToolCall) -> Result<(), Finding> {
        if let Some(rule) = self
            .rules
            .deny
            .iter()
            .find(|rule| rule.speaks_of(call) != Speaks::No)
        {
            let reason = rule.reason.clone().unwrap_or_else(|| {
                format!("the policy does not let {} be called like this", call.tool)
            });
            return Err(rule.finding(reason, call));
        }
        let mut named = self
            .rules
            .allow
            .iter()
            .filter(|rule| rule.tool.matches(&call.tool))
            .peekable();
        if named.peek().is_none() || named.any(|rule| rule.speaks_of(call) == Speaks::Yes) {
            return Ok(());
        }
        let reason = format!(
            "the policy lets {} be called only as its allow rules say",
            call.tool
        );
        Err(Finding {
            offence: Some(the_tool(call)),
            ..Finding::new("policy.not-allowed", reason)
        })
    }

    /// The arguments as the list `rewrite` wants them, if it changes any.
    ///
    /// The rules are applied one after the other, each to what the earlier ones left.
    ///
    /// # Errors
    ///
    /// A rule whose pattern cannot be compiled refuses the call that it might have changed.
    pub fn rewrite(&self, call: &ToolCall) -> Result<Option<Rewritten>, Finding> {
        let mut rewritten: Option<Rewritten> = None;
        for rule in self
            .rules
            .rewrite
            .iter()
            .filter(|rule| rule.tool.matches(&call.tool))
        {
            let current = rewritten
                .as_ref()
                .map_or(&call.arguments, |made| &made.arguments);
            let Some(text) = rule.argument.get(current).and_then(Value::as_str) else {
                continue;
            };
            let Some(regex) = rule.pattern.regex() else {
                return Err(Finding {
                    offence: Some(the_tool(call)),
                    ..Finding::new(rule.id.clone(), PATTERN_TOO_LARGE)
                });
            };
            let replaced = regex.replace_all(text, rule.replace.as_str());
            if replaced == text {
                continue;
            }
            let replaced = replaced.into_owned();
            let reason = rule
                .reason
                .clone()
                .unwrap_or_else(|| format!("the policy rewrites {}", call.tool));
            let made = rewritten.get_or_insert_with(|| Rewritten {
                arguments: call.arguments.clone(),
                rule: String::new(),
                reason: String::new(),
            });
            if let Some(place) = rule.argument.get_mut(&mut made.arguments) {
                *place = Value::String(replaced);
            }
            join(&mut made.rule, ",", &rule.id);
            join(&mut made.reason, "; ", &reason);
        }
        Ok(rewritten)
    }
}

const PATTERN_TOO_LARGE: &str =
    "the pattern of this policy rule compiles to more than a pattern may";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Yes,
    No,
    /// The pattern cannot be asked.
    Unknown,
}

impl Rule {
    fn speaks_of(&self, call: &ToolCall) -> Speaks {
        if !self.tool.matches(&call.tool) {
            return Speaks::No;
        }
        let Some((path, pattern)) = &self.argument else {
            return Speaks::Yes;
        };
        let Some(value) = path.get(&call.arguments) else {
            return Speaks::No;
        };
        match pattern.regex() {
            None => Speaks::Unknown,
            Some(regex) if regex.is_match(&text_of(value)) => Speaks::Yes,
            Some(_) => Speaks::No,
        }
    }

    fn finding(&self, reason: String, call: &ToolCall) -> Finding {
        let offence = self.argument.as_ref().and_then(|(path, pattern)| {
            let text = text_of(path.get(&call.arguments)?);
            let found = pattern.regex()?.find(&text)?;
            Some(Offence {
                text: found.as_str().to_owned(),
                span: Some(found.range()),
            })
        });
        Finding {
            offence: offence.or_else(|| Some(the_tool(call))),
            ..Finding::new(self.id.clone(), reason)
        }
    }
}

/// The tool itself, where nothing in its arguments is to blame.
fn the_tool(call: &ToolCall) -> Offence {
    Offence {
        text: call.tool.clone(),
        span: None,
    }
}

fn join(list: &mut String, separator: &str, item: &str) {
    if !list.is_empty() {
        list.push_str(separator);
    }
    list.push_str(item);
}

impl TryFrom<PolicyFile> for PermissionPolicy {
    type Error = PolicyRefused;

    fn try_from(file: PolicyFile) -> Result<Self, PolicyRefused> {
        Ok(Self {
            rules: file.try_into()?,
        })
    }
}

impl fmt::Debug for PermissionPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Rules {
            allow,
            deny,
            rewrite,
        } = &self.rules;
        f.debug_struct("PermissionPolicy")
            .field("allow", &allow.len())
            .field("deny", &deny.len())
            .field("rewrite", &rewrite.len())
            .finish()
    }
}

#[cfg(test)]
mod tests;
