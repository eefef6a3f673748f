//! The release program, and running it with a watch in hand.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};

use crate::workspace::Workspace;

/// Builds a package for release and answers where its program is.
pub(crate) fn release(
    workspace: &Workspace,
    package: &str,
    program: &str,
) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let built = Command::new(cargo)
        .args(["build", "--release", "--package", package])
        .current_dir(&workspace.root)
        .status()
        .context("cargo cannot be run")?;
    ensure!(built.success(), "the program does not build");
    let target =
        std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| "target".into(), PathBuf::from);
    Ok(workspace.root.join(target).join("release").join(program))
}

/// The program that the option `--program` names.
pub(crate) fn program(arguments: &[&str]) -> Option<PathBuf> {
    let at = arguments
        .iter()
        .position(|argument| *argument == "--program")?;
    arguments.get(at + 1).map(PathBuf::from)
}

/// Builds the program and measures it from a new process, whose children are no compilers: the
/// memory of children can only be asked for all of them together.
pub(crate) fn again(
    workspace: &Workspace,
    case: &str,
    arguments: &[&str],
) -> anyhow::Result<ExitCode> {
    let program = release(workspace, "triplane-cli", "triplane")?;
    let ended = Command::new(std::env::current_exe()?)
        .args(["bench", case])
        .args(arguments)
        .arg("--program")
        .arg(program)
        .status()?;
    Ok(if ended.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// How long `command` takes from its start to its end, with `input` on its standard input.
pub(crate) fn timed(command: &mut Command, input: &[u8]) -> anyhow::Result<Duration> {
    let started = Instant::now();
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("the program cannot be started")?;
    child.stdin.take().context("a pipe")?.write_all(input)?;
    let output = child.wait_with_output()?;
    let took = started.elapsed();
    let errors = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "the program failed: {errors}");
    Ok(took)
}

/// The most memory that any child of this process has had, in KiB.
pub(crate) fn resident_kib() -> anyhow::Result<i64> {
    use nix::sys::resource::{UsageWho, getrusage};
    Ok(getrusage(UsageWho::RUSAGE_CHILDREN)?.max_rss())
}

/// The size of the file at `path`, and 0 if there is none.
pub(crate) fn size(path: &Path) -> u64 {
    std::fs::metadata(path).map_or(0, |metadata| metadata.len())
}

/// The value below which `share` of the times lie, in milliseconds.
pub(crate) fn quantile(times: &[Duration], share: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_unstable();
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place in a list of a few thousand"
    )]
    let at = ((sorted.len() - 1) as f64 * share).round() as usize;
    (sorted[at].as_secs_f64() * 1e6).round() / 1e3
}
