//! The guards and the permissions that a policy file asks for.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;

use anyhow::{Context as _, Result, anyhow};
use tokio::sync::oneshot;
use triplane::guards::{CommandGuard, Set};
use triplane::{DeclaredPolicy, PermissionPolicy, RuntimeBuilder, guards};
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
    let Declared {
        commands,
        rules,
        permissions,
        tools,
        ..
    } = declared(policy)?;
    Ok(Guarding {
        commands: rules.add_to(commands)?,
        permissions,
        tools,
    })
}

/// What a policy file says, whose rule files may still be read.
pub(crate) struct Started {
    commands: Commands,
    permissions: Option<PermissionPolicy>,
    tools: Arc<[DeclaredTool]>,
}

enum Commands {
    Made(CommandGuard),
    Making(oneshot::Receiver<Result<CommandGuard>>),
}

/// What [`asked`] reads, with the rule files read on a thread of their own: the time that takes passes
/// while a question comes in and the store opens, and a file that is never read holds up that thread
/// alone.
pub(crate) fn started(policy: Option<&Path>) -> Result<Started> {
    let Declared {
        commands,
        rules,
        permissions,
        tools,
        ..
    } = declared(policy)?;
    let commands = if rules.files.is_empty() {
        Commands::Made(commands)
    } else {
        let (made, making) = oneshot::channel();
        thread::Builder::new()
            .name("triplane-rules".to_owned())
            // Whoever asked may have gone when its time was up.
            .spawn(move || drop(made.send(rules.add_to(commands))))
            .context("cannot start a thread that reads the rule files")?;
        Commands::Making(making)
    };
    Ok(Started {
        commands,
        permissions,
        tools,
    })
}

impl Started {
    /// Adds guards and permissions to `builder`.
    pub(crate) fn attach(self, builder: RuntimeBuilder) -> RuntimeBuilder {
        let builder = match self.commands {
            Commands::Made(commands) => builder.guard(commands),
            Commands::Making(making) => builder.guard_later(async {
                let nothing = |_| Err(anyhow!("the thread that reads the rule files failed"));
                making.await.unwrap_or_else(nothing)
            }),
        };
        let builder = builder.guard(guards::workspace_paths().tools(self.tools));
        match self.permissions {
            Some(permissions) => builder.policy(permissions),
            None => builder,
        }
    }
}

/// What a policy file says by itself.
pub(crate) struct Declared {
    /// Without the rule files.
    pub(crate) commands: CommandGuard,
    pub(crate) set: Set,
    pub(crate) rules: RuleFiles,
    permissions: Option<PermissionPolicy>,
    tools: Arc<[DeclaredTool]>,
}

/// The rule files that a policy names.
#[derive(Default)]
pub(crate) struct RuleFiles {
    policy: PathBuf,
    /// In the order in which they are added.
    pub(crate) files: Vec<PathBuf>,
}

pub(crate) fn declared(policy: Option<&Path>) -> Result<Declared> {
    let mut commands = guards::commands();
    let Some(path) = policy else {
        return Ok(Declared {
            commands,
            set: Set::default(),
            rules: RuleFiles::default(),
            permissions: None,
            tools: Arc::default(),
        });
    };
    let DeclaredPolicy {
        permissions,
        guards,
    } = policy_file::read("policy", path)?;
    let set = match guards.set {
        None => Set::default(),
        Some(name) => name.parse().context("set").with_context(|| named(path))?,
    };
    commands = commands.set(set);
    let folder = path.parent().unwrap_or(Path::new(""));
    let tools: Arc<[DeclaredTool]> = guards.tools.into();
    Ok(Declared {
        commands: commands.tools(Arc::clone(&tools)),
        set,
        rules: RuleFiles {
            policy: path.to_owned(),
            files: guards.rules.iter().map(|file| folder.join(file)).collect(),
        },
        permissions: Some(permissions),
        tools,
    })
}

impl RuleFiles {
    fn add_to(&self, mut commands: CommandGuard) -> Result<CommandGuard> {
        for file in &self.files {
            commands = self.add(commands, file)?;
        }
        Ok(commands)
    }

    /// Adds one of the files.
    pub(crate) fn add(&self, commands: CommandGuard, file: &Path) -> Result<CommandGuard> {
        let place = || named(&self.policy);
        policy_file::regular(file)
            .map_err(|error| anyhow!("{}: {error}", file.display()))
            .with_context(place)?;
        commands.rules(file).with_context(place)
    }
}

fn named(policy: &Path) -> String {
    format!("policy {}", policy.display())
}
