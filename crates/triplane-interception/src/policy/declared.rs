//! A policy file, whole: what it permits, and what it says to the guards.

use serde::Deserialize;

use crate::policy::declaration::{GuardSettings, PolicyFile, PolicyRefused};
use crate::policy::permission::PermissionPolicy;

/// A policy file as whoever makes the guards reads it.
///
/// [`PermissionPolicy`] alone refuses a file that speaks to the guards: what it says there would
/// have no effect, unseen.
///
/// ```
/// use triplane_interception::DeclaredPolicy;
///
/// let declared: DeclaredPolicy = serde_json::from_str(
///     r#"{"version": 1, "set": "strict", "rules": ["team.toml"]}"#,
/// )?;
/// assert_eq!(declared.guards.set.as_deref(), Some("strict"));
/// # Ok::<_, serde_json::Error>(())
/// ```
#[derive(Debug, Deserialize)]
#[serde(try_from = "PolicyFile")]
pub struct DeclaredPolicy {
    /// What it permits, for the plan of a call.
    pub permissions: PermissionPolicy,
    /// What it says to the guards.
    pub guards: GuardSettings,
}

impl TryFrom<PolicyFile> for DeclaredPolicy {
    type Error = PolicyRefused;

    fn try_from(mut file: PolicyFile) -> Result<Self, PolicyRefused> {
        let guards = file.take_guard_settings()?;
        Ok(Self {
            permissions: file.try_into()?,
            guards,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_for_the_guards_is_read_by_who_makes_them_and_refused_by_who_does_not() {
        let file =
            json!({"version": 1, "deny": [{"tool": "a"}], "set": "strict", "rules": ["t.toml"]});
        let declared: DeclaredPolicy = serde_json::from_value(file.clone()).expect("a policy");
        let wanted = GuardSettings {
            set: Some("strict".to_owned()),
            rules: vec!["t.toml".into()],
            tools: Vec::new(),
        };
        assert_eq!(declared.guards, wanted);
        let refused = serde_json::from_value::<PermissionPolicy>(file).expect_err("refused");
        assert!(refused.to_string().starts_with("set: is for the guards"));
    }

    #[test]
    fn tools_are_declared_by_name_or_pattern() {
        let file = json!({"version": 1, "tools": [
            {"tool": "mcp__box__*", "kind": "shell", "argument": "job.code"},
            {"tool": "peek", "kind": "read"},
        ]});
        let declared: DeclaredPolicy = serde_json::from_value(file).expect("a policy");
        let [shell, read] = declared.guards.tools.as_slice() else {
            panic!("two tools");
        };
        assert!(shell.is_of("mcp__box__run") && !shell.is_of("mcp__other__run"));
        let arguments = json!({"job": {"code": "ls"}});
        assert_eq!(shell.argument(&arguments), Some(&json!("ls")));
        assert!(!read.names_argument());
        let refused = |tool: serde_json::Value, wanted: &str| {
            let file = json!({"version": 1, "tools": [tool]});
            let error = serde_json::from_value::<DeclaredPolicy>(file).expect_err("refused");
            assert!(error.to_string().contains(wanted), "{error}");
        };
        refused(json!({"tool": "", "kind": "read"}), "tools[0].tool");
        refused(json!({"tool": "a", "kind": "fly"}), "fly");
        refused(
            json!({"tool": "a", "kind": "read", "argument": "x..y"}),
            "tools[0].argument",
        );
    }

    #[test]
    fn a_policy_that_says_nothing_to_the_guards_leaves_them_as_they_are() {
        let declared: DeclaredPolicy =
            serde_json::from_value(json!({"version": 1})).expect("a policy");
        assert_eq!(declared.guards, GuardSettings::default());
    }
}
