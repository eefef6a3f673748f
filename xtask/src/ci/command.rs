//! Running cargo and the helper tools.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail};

use crate::workspace::Workspace;

/// What every step works with.
#[derive(Debug)]
pub(crate) struct Shop<'w> {
    pub(crate) workspace: &'w Workspace,
    /// Where cargo builds, and where the helper tools are installed below.
    pub(crate) target_folder: PathBuf,
    /// What a reader of the result must know, a sentence each.
    pub(crate) notes: Vec<String>,
}

impl<'w> Shop<'w> {
    pub(crate) fn new(workspace: &'w Workspace) -> anyhow::Result<Self> {
        let target_folder = match std::env::var_os("CARGO_TARGET_DIR") {
            Some(folder) => std::path::absolute(folder)?,
            None => workspace.root.join("target"),
        };
        Ok(Self {
            workspace,
            target_folder,
            notes: Vec::new(),
        })
    }

    /// The cargo that runs this program.
    pub(crate) fn cargo(&self, arguments: &str) -> Invocation {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        self.program(&cargo).args(arguments)
    }

    /// A program, started in the workspace's root and without an input.
    pub(crate) fn program(&self, program: impl AsRef<OsStr>) -> Invocation {
        let shown = PathBuf::from(program.as_ref());
        let shown = shown
            .file_stem()
            .map_or_else(String::new, |n| n.to_string_lossy().into());
        let mut command = Command::new(program);
        command
            .current_dir(&self.workspace.root)
            .stdin(Stdio::null());
        if std::env::var_os("CI").is_some() {
            // Nobody builds a second time there, and incremental state takes time and disk.
            command.env("CARGO_INCREMENTAL", "0");
        }
        Invocation { command, shown }
    }
}

/// One command line, about to be run.
#[derive(Debug)]
pub(crate) struct Invocation {
    command: Command,
    shown: String,
}

impl Invocation {
    /// Adds arguments, parted by spaces.
    pub(crate) fn args(mut self, arguments: &str) -> Self {
        for argument in arguments.split_whitespace() {
            self = self.arg(argument);
        }
        self
    }

    /// Adds one argument.
    pub(crate) fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.shown.push(' ');
        self.shown.push_str(&argument.as_ref().to_string_lossy());
        self.command.arg(argument);
        self
    }

    /// Sets a variable of the environment.
    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it with its output shown; fails when it does.
    pub(crate) fn run(mut self) -> anyhow::Result<()> {
        println!("$ {}", self.shown);
        let status = self.command.status();
        let status = status.with_context(|| format!("cannot start `{}`", self.shown))?;
        if !status.success() {
            bail!("`{}` ended with {status}", self.shown);
        }
        Ok(())
    }

    /// Runs it and returns its standard output; fails when it does.
    pub(crate) fn output(mut self) -> anyhow::Result<String> {
        let output = self.command.stderr(Stdio::null()).output();
        let output = output.with_context(|| format!("cannot start `{}`", self.shown))?;
        if !output.status.success() {
            bail!("`{}` ended with {}", self.shown, output.status);
        }
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }

    /// Runs it with its output hidden; tells whether it ended well within `limit`.
    pub(crate) fn succeeds_within(mut self, limit: Duration) -> anyhow::Result<bool> {
        println!("$ {}", self.shown);
        let hidden = self.command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = hidden.spawn()?;
        let started = Instant::now();
        while started.elapsed() < limit {
            if let Some(status) = child.try_wait()? {
                return Ok(status.success());
            }
            std::thread::sleep(Duration::from_millis(50));
        }
        child.kill()?;
        child.wait()?;
        Ok(false)
    }
}
