//! What nobody asked for does not happen: no file is written, and no logger of the process is set.

#![expect(
    clippy::disallowed_methods,
    reason = "a test runs the examples as their users do"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::page::{sources, workspace};

/// An example, which is built beside the tests; alone, this test builds it.
fn example(name: &str) -> PathBuf {
    let here = std::env::current_exe().expect("this program");
    let built = here.ancestors().nth(2).expect("the folder of the profile");
    let example = built.join("examples").join(name);
    if !example.exists() {
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
        let status = Command::new(cargo)
            .args([
                "build",
                "--quiet",
                "--package",
                "triplane",
                "--all-features",
            ])
            .args(["--example", name])
            .current_dir(workspace())
            .status();
        assert!(
            status.expect("cargo runs").success(),
            "{name} does not build"
        );
    }
    example
}

/// Runs an example in a folder that it knows nothing of, its home and its folder for data among what it is
/// told; `scratch` is where it may make folders that it removes.
fn run(name: &str, folder: &Path, scratch: &Path) -> String {
    let ran = Command::new(example(name))
        .current_dir(folder)
        .env_clear()
        .env("HOME", folder)
        .env("XDG_DATA_HOME", folder)
        .env("XDG_STATE_HOME", folder)
        .env("TMPDIR", scratch)
        .env("RUST_LOG", "trace")
        .output()
        .expect("it starts");
    let said = String::from_utf8_lossy(&ran.stderr);
    assert!(
        ran.status.success(),
        "{name} in {}: {said}",
        folder.display()
    );
    assert_eq!(said, "", "{name} logs where nobody set a logger");
    String::from_utf8(ran.stdout).expect("text")
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).expect("a folder");
    entries
        .map(|entry| entry.expect("an entry").path())
        .collect()
}

#[test]
fn an_example_leaves_an_empty_folder_empty() {
    let (folder, scratch) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let read_only = fs::metadata(folder.path()).unwrap().permissions();
    let writable = read_only.clone();
    let mut read_only = read_only;
    read_only.set_readonly(true);
    // Who runs as root may write all the same, so what is there afterwards is looked at, too.
    fs::set_permissions(folder.path(), read_only).unwrap();
    let legacy = run("legacy", folder.path(), scratch.path());
    assert!(legacy.contains("rm: rm is not allowed"), "{legacy}");
    let twenty = run("twenty_lines", folder.path(), scratch.path());
    assert!(twenty.contains("delivered 1"), "{twenty}");
    assert_eq!(entries(folder.path()), Vec::<PathBuf>::new());
    assert_eq!(entries(scratch.path()), Vec::<PathBuf>::new());
    fs::set_permissions(folder.path(), writable).unwrap();
}

/// There not even root can make a file.
#[test]
#[cfg(target_os = "linux")]
fn an_example_runs_where_nothing_can_be_written() {
    let folder = Path::new("/proc/self");
    assert!(fs::write(folder.join("x"), "").is_err());
    let scratch = tempfile::tempdir().unwrap();
    let legacy = run("legacy", folder, scratch.path());
    assert!(legacy.contains("session 1: completed"), "{legacy}");
    assert_eq!(entries(scratch.path()), Vec::<PathBuf>::new());
}

#[test]
fn no_crate_but_the_program_sets_a_logger_of_the_process() {
    let sets = [
        "set_global_default",
        "set_logger",
        "set_boxed_logger",
        "tracing_subscriber",
        "env_logger",
        "set_hook(",
    ];
    for (path, source) in sources() {
        // The program, and what is compiled for fuzzing only.
        let free = ["triplane-cli", "fuzz"];
        if path
            .components()
            .any(|part| free.iter().any(|name| part.as_os_str() == *name))
        {
            continue;
        }
        for word in sets {
            assert!(!source.contains(word), "{} sets `{word}`", path.display());
        }
    }
}
