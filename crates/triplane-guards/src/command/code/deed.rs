//! The calls of one-line programs that run or remove something, by name.

/// Calls that hand a text or an argument vector to the system.
pub(crate) const RUNNERS: [&str; 35] = [
    "system",
    "popen",
    "popen2",
    "popen3",
    "exec",
    "execl",
    "execlp",
    "execle",
    "execv",
    "execvp",
    "execve",
    "execvpe",
    "execsync",
    "execfile",
    "execfilesync",
    "spawn",
    "spawnsync",
    "spawnl",
    "spawnlp",
    "spawnv",
    "spawnvp",
    "run",
    "call",
    "check_call",
    "check_output",
    "getoutput",
    "getstatusoutput",
    "shell_exec",
    "passthru",
    "proc_open",
    "capture2",
    "capture3",
    "execute",
    "create_subprocess_shell",
    "create_subprocess_exec",
];

/// Other calls that a name may be given to.
const REMOVERS: [&str; 12] = [
    "rmtree",
    "rmSync",
    "rm",
    "unlink",
    "unlinkSync",
    "remove",
    "rmdirSync",
    "rm_rf",
    "rm_r",
    "remove_tree",
    "removeSync",
    "emptyDirSync",
];

/// Whether a call of this name runs or removes something.
pub(crate) fn is_deed(name: &str) -> bool {
    RUNNERS.contains(&name.to_lowercase().as_str()) || REMOVERS.contains(&name)
}
