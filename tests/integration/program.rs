//! Running the program `triplane` as its users do.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::OnceLock;

use serde_json::Value;
use tempfile::TempDir;

/// The program, built if nobody has built it: a test that ran an older one would prove nothing.
pub(crate) fn program() -> &'static Path {
    static PROGRAM: OnceLock<PathBuf> = OnceLock::new();
    PROGRAM.get_or_init(|| {
        if let Some(built) = std::env::var_os("TRIPLANE_BIN") {
            return PathBuf::from(built);
        }
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let built = Command::new(cargo)
            .args([
                "build",
                "--quiet",
                "--package",
                "triplane-cli",
                "--message-format",
                "json",
            ])
            .current_dir(workspace())
            .stderr(Stdio::inherit())
            .output()
            .expect("cargo runs");
        assert!(built.status.success(), "the program does not build");
        let messages = String::from_utf8(built.stdout).expect("cargo writes text");
        let executable = messages
            .lines()
            .filter_map(|line| serde_json::from_str::<Value>(line).ok())
            .find_map(|message| message["executable"].as_str().map(PathBuf::from));
        executable.expect("cargo names the program it built")
    })
}

pub(crate) fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("tests/ lies in the workspace")
}

/// A folder of its own for one test, with a store that does not exist yet.
pub(crate) struct Place {
    folder: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
        }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn store(&self) -> PathBuf {
        self.path("state.db")
    }

    pub(crate) fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).expect("a file");
        path
    }

    /// `triplane ARGUMENTS --store <this place's store>`, in this place's folder.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(program());
        command
            .args(arguments)
            .arg("--store")
            .arg(self.store())
            .current_dir(self.folder.path())
            .stdin(Stdio::null());
        command
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().expect("the program runs")
    }

    /// Runs to success and reads the last line of standard output as JSON.
    pub(crate) fn summary(&self, arguments: &[&str]) -> Value {
        let output = self.run(arguments);
        let stdout = text(&output.stdout);
        assert!(
            output.status.success(),
            "{arguments:?}: {}\n{stdout}",
            text(&output.stderr)
        );
        let last = stdout.lines().last().unwrap_or_default();
        serde_json::from_str(last).unwrap_or_else(|error| panic!("{error}: {last:?}"))
    }

    /// Starts a hook and gives it its question.
    pub(crate) fn ask(&self, arguments: &[&str], question: &[u8]) -> Child {
        let mut child = self
            .command(&[&["hook"], arguments].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut stdin = child.stdin.take().expect("a pipe");
        stdin.write_all(question).expect("the question is read");
        child
    }

    pub(crate) fn hook(&self, arguments: &[&str], question: &[u8]) -> Output {
        self.ask(arguments, question)
            .wait_with_output()
            .expect("the program answers")
    }
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The question of a shell command, as Claude Code asks it.
pub(crate) fn shell_question(command: &str) -> String {
    serde_json::json!({
        "hook_event_name": "PreToolUse",
        "session_id": "s1",
        "cwd": "/srv/app",
        "tool_name": "Bash",
        "tool_input": {"command": command},
    })
    .to_string()
}

/// The reason of a denial in Claude Code's form, or nothing.
pub(crate) fn denial(output: &Output) -> Option<String> {
    let answer: Value = serde_json::from_slice(&output.stdout).ok()?;
    let said = &answer["hookSpecificOutput"];
    (said["permissionDecision"] == "deny").then(|| {
        said["permissionDecisionReason"]
            .as_str()
            .unwrap_or_default()
            .to_owned()
    })
}
