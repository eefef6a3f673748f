//! The Python environment in which the old package is recorded.

use std::ffi::OsStr;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use anyhow::Context as _;

/// The oldest Python in which the recorder runs.
const OLDEST: (u32, u32) = (3, 11);

/// There is no environment, and none can be made: no Python, or no package index.
#[derive(Debug, thiserror::Error)]
#[error("{what}\n{reason}\nThe plain run needs neither Python nor a network.")]
pub(crate) struct Unavailable {
    what: String,
    reason: String,
}

impl Unavailable {
    fn new(what: impl Into<String>, reason: impl Into<String>) -> Self {
        Self {
            what: what.into(),
            reason: reason.into(),
        }
    }
}

/// An environment that has what `record/requirements.txt` asks for.
#[derive(Debug)]
pub(crate) struct Python {
    program: PathBuf,
    /// Where it runs: the old package writes beside itself, and reads the settings of a home.
    folder: PathBuf,
}

impl Python {
    /// The environment under the target folder, which is made when it is not there or is another.
    ///
    /// # Errors
    ///
    /// [`Unavailable`] without Python or without the package index, and whatever keeps it from writing.
    pub(crate) fn prepare() -> anyhow::Result<Self> {
        Self::prepare_with("python3".as_ref(), &target().join("venv"))
    }

    fn prepare_with(base: &OsStr, venv: &Path) -> anyhow::Result<Self> {
        let requirements = package().join("record/requirements.txt");
        let wanted = fs::read_to_string(&requirements)?;
        let python = Self {
            program: venv.join("bin/python"),
            folder: venv.join("home"),
        };
        let installed = venv.join("installed.txt");
        if fs::read_to_string(&installed).is_ok_and(|text| text == wanted) {
            return Ok(python);
        }
        check_version(base)?;
        if venv.exists() {
            fs::remove_dir_all(venv).with_context(|| format!("cannot renew {}", venv.display()))?;
        }
        eprintln!("making a Python environment in {}", venv.display());
        let made = run(Command::new(base).args(["-m", "venv"]).arg(venv));
        let made =
            made.map_err(|error| Unavailable::new("python3 cannot be run", error.to_string()))?;
        succeeded(&made, "python3 makes no virtual environment")?;
        let pip = [
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
        ];
        let mut pip = python.command(pip);
        let got = run(pip.arg("--requirement").arg(&requirements))?;
        succeeded(
            &got,
            "the recorded package cannot be installed from the package index",
        )?;
        fs::create_dir_all(&python.folder)?;
        fs::File::create(&installed)?.write_all(wanted.as_bytes())?;
        Ok(python)
    }

    /// A command of the recorder.
    pub(crate) fn recorder<'a>(&self, arguments: impl IntoIterator<Item = &'a OsStr>) -> Command {
        let mut command = self.command(["-B", "-m", "record"]);
        command
            .args(arguments)
            .current_dir(&self.folder)
            .env("HOME", &self.folder)
            .env("PYTHONPATH", package())
            .env("PYTHONHASHSEED", "0");
        command
    }

    fn command<const N: usize>(&self, arguments: [&str; N]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(arguments).stdin(Stdio::null());
        command
    }
}

/// Where this package writes what can be made again.
pub(crate) fn target() -> PathBuf {
    let root = package().ancestors().nth(2).unwrap_or(package());
    root.join("target/conformance")
}

fn package() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn check_version(base: &OsStr) -> Result<(), Unavailable> {
    let (major, minor) = OLDEST;
    let asked = format!("Python {major}.{minor} or later is asked for");
    let script = "import sys; print(*sys.version_info[:2])";
    let said = run(Command::new(base).args(["-c", script]))
        .map_err(|error| Unavailable::new(&asked, format!("python3 cannot be run: {error}")))?;
    let text = String::from_utf8_lossy(&said.stdout).into_owned();
    let mut parts = text.split_whitespace().map(str::parse::<u32>);
    match (parts.next(), parts.next()) {
        (Some(Ok(found)), Some(Ok(then))) if (found, then) >= OLDEST => Ok(()),
        _ => Err(Unavailable::new(
            asked,
            format!("python3 is {}", text.trim()),
        )),
    }
}

fn run(command: &mut Command) -> std::io::Result<Output> {
    command.stdin(Stdio::null()).output()
}

fn succeeded(output: &Output, what: &str) -> Result<(), Unavailable> {
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(Unavailable::new(what, said.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_python_it_says_so() {
        let venv = target().join("no-venv");
        let error = Python::prepare_with("no-such-python".as_ref(), &venv).unwrap_err();
        let unavailable = error.downcast_ref::<Unavailable>();
        let text = unavailable.map(ToString::to_string).unwrap_or_default();
        assert!(
            text.starts_with("Python 3.11 or later is asked for"),
            "{text}"
        );
        assert!(
            text.ends_with("needs neither Python nor a network."),
            "{text}"
        );
        assert!(!venv.exists());
    }
}
