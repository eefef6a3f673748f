//! The guards and the permissions that a policy file asks for.

use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, Result};
use triplane::guards::CommandGuard;
use triplane::{DeclaredPolicy, PermissionPolicy, guards};
use triplane_interception::DeclaredTool;

use crate::policy_file;

/// What a policy file says, ready to be used.
pub(crate) struct Guarding {
    pub(crate) commands: CommandGuard,
    pub(crate) permissions: Option<PermissionPolicy>,
    /// Tools that the policy declares; the command guard has them already.
    pub(crate) tools: Arc<[DeclaredTool]>,
}

/// Reads the policy file and the rule files that it names, or takes the default set of rules.
pub(crate) fn asked(policy: Option<&Path>) -> Result<Guarding> {
    let mut commands = guards::commands();
    let Some(path) = policy else {
        return Ok(Guarding {
            commands,
            permissions: None,
            tools: Arc::default(),
        });
    };
    let DeclaredPolicy {
        permissions,
        guards,
    } = policy_file::read("policy", path)?;
    let place = || format!("policy {}", path.display());
    if let Some(set) = guards.set {
        let set = set.parse().context("set").with_context(place)?;
        commands = commands.set(set);
    }
    let folder = path.parent().unwrap_or(Path::new(""));
    for file in guards.rules {
        commands = commands.rules(folder.join(file)).with_context(place)?;
    }
    let tools: Arc<[DeclaredTool]> = guards.tools.into();
    Ok(Guarding {
        commands: commands.tools(Arc::clone(&tools)),
        permissions: Some(permissions),
        tools,
    })
}
