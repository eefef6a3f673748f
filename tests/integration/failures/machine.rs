//! File systems of one test's own: small ones and read-only ones.
//!
//! They are mounted in a namespace that a helper process holds, so no other process sees them, and
//! they vanish with it, however the test ends.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// A namespace with a mount of its own.
pub(crate) struct Machine {
    holder: Child,
    enter: &'static [&'static str],
}

/// How a namespace is made and entered: by root, and by anybody where users may have their own.
const WAYS: [(&[&str], &[&str]); 2] = [
    (&["--mount"], &["--mount"]),
    (
        &["--user", "--map-root-user", "--mount"],
        &["--user", "--preserve-credentials", "--mount"],
    ),
];

impl Machine {
    /// Runs `script` in a namespace of its own, with `folder` as `$1`, and keeps it; says why when
    /// that is not permitted here.
    pub(crate) fn new(script: &str, folder: &Path) -> Result<Self, String> {
        let mut why = String::new();
        for (make, enter) in WAYS {
            let script = format!("{script} && echo ready && read -r _");
            let spawned = Command::new("unshare")
                .args(make)
                .args(["sh", "-c", &script, "sh"])
                .arg(folder)
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .stderr(Stdio::piped())
                .spawn();
            let mut holder = match spawned {
                Ok(holder) => holder,
                Err(error) => return Err(format!("unshare cannot be started: {error}")),
            };
            let mut ready = String::new();
            let stdout = holder.stdout.take().expect("a pipe");
            BufReader::new(stdout)
                .read_line(&mut ready)
                .expect("text or an end");
            if ready == "ready\n" {
                return Ok(Self { holder, enter });
            }
            why.clear();
            let mut stderr = holder.stderr.take().expect("a pipe");
            stderr.read_to_string(&mut why).expect("text");
            holder.wait().expect("it has ended");
        }
        Err(format!("no mounts here: {}", why.trim()))
    }

    /// `command`, run where the mount is seen.
    pub(crate) fn inside(&self, command: &Command) -> Command {
        let mut inside = Command::new("nsenter");
        inside
            .arg(format!("--target={}", self.holder.id()))
            .args(self.enter)
            .arg("--")
            .arg(command.get_program())
            .args(command.get_args())
            .stdin(Stdio::null());
        inside
    }

    /// Runs a line of shell there.
    pub(crate) fn shell(&self, line: &str, folder: &Path) {
        let mut shell = Command::new("sh");
        shell.args(["-c", line, "sh"]).arg(folder);
        let output = self.inside(&shell).output().expect("nsenter runs");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{line}: {said}");
    }

    /// Where this process finds what stands at `path` there.
    pub(crate) fn seen(&self, path: &Path) -> PathBuf {
        let path = path.strip_prefix("/").expect("an absolute path");
        PathBuf::from(format!("/proc/{}/root", self.holder.id())).join(path)
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // Its input ends, and with the shell the namespace and its mounts.
        drop(self.holder.stdin.take());
        self.holder.wait().ok();
    }
}
