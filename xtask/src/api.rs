//! `cargo xtask api`: the public interface of the facade, held against the list that is checked in.
//!
//! The list is made from what rustdoc writes as JSON, all features on. That form is unstable, so rustdoc
//! is run with `RUSTC_BOOTSTRAP=1` on the pinned toolchain: nothing is compiled with it and nothing of it is
//! shipped. Only rustdoc may see that variable, since build scripts ask for it and would be run again, with
//! everything behind them: so cargo is given this program in rustdoc's place, which passes the call on.
//!
//! Names that other crates re-export here are listed by name; what they hold is their own interface.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use anyhow::{Context as _, bail};

use crate::workspace::Workspace;

/// Where the list is.
const LIST: &str = "crates/triplane/api.txt";
const PACKAGE: &str = "triplane";

/// When it is set, this program stands in for rustdoc, and this is the real one.
pub(crate) const STANDS_IN_FOR: &str = "TRIPLANE_XTASK_RUSTDOC";

/// Compares the interface with the list, or writes the list anew.
pub(crate) fn run(workspace: &Workspace, arguments: &[&str]) -> anyhow::Result<ExitCode> {
    let write = match arguments {
        [] => false,
        ["--write"] => true,
        other => bail!(
            "api takes --write and nothing else, not `{}`",
            other.join(" ")
        ),
    };
    if write {
        let list = listed(workspace)?;
        let file = workspace.root.join(LIST);
        fs::write(&file, list.join("\n") + "\n")
            .with_context(|| format!("cannot write {}", file.display()))?;
        println!("api: {} lines in {LIST}", list.len());
        return Ok(ExitCode::SUCCESS);
    }
    let changes = changes(workspace)?;
    for change in &changes {
        println!("{change}");
    }
    if changes.is_empty() {
        println!("api: ok");
        return Ok(ExitCode::SUCCESS);
    }
    println!("api: {} lines differ from {LIST}; {WAY_OUT}", changes.len());
    Ok(ExitCode::FAILURE)
}

/// What to do about a difference that is meant.
pub(crate) const WAY_OUT: &str = "if that is meant, `cargo xtask api --write` renews it";

/// The lines that went (`-`) and came (`+`) since the list was written.
pub(crate) fn changes(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let file = workspace.root.join(LIST);
    let old = fs::read_to_string(&file)
        .with_context(|| format!("cannot read {}; {WAY_OUT}", file.display()))?;
    let old: Vec<_> = old.lines().map(str::to_owned).collect();
    Ok(difference(&old, &listed(workspace)?))
}

fn difference(old: &[String], new: &[String]) -> Vec<String> {
    let (before, after): (BTreeSet<_>, BTreeSet<_>) = (old.iter().collect(), new.iter().collect());
    let gone = before.difference(&after).map(|line| format!("- {line}"));
    let come = after.difference(&before).map(|line| format!("+ {line}"));
    gone.chain(come).collect()
}

/// Every public item of the facade, a line each.
fn listed(workspace: &Workspace) -> anyhow::Result<Vec<String>> {
    let rustdoc = std::env::var_os("RUSTDOC").unwrap_or_else(|| "rustdoc".into());
    let stand_in = std::env::current_exe().context("cannot find this program")?;
    let target = match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => std::path::absolute(folder)?,
        None => workspace.root.join("target"),
    };
    let json = document(&workspace.root, PACKAGE, &target, |cargo| {
        cargo.env("RUSTDOC", stand_in).env(STANDS_IN_FOR, rustdoc);
    })?;
    read(&json)
}

/// Lets rustdoc describe a package, and returns the file.
fn document(
    root: &Path,
    package: &str,
    target: &Path,
    prepare: impl FnOnce(&mut Command),
) -> anyhow::Result<PathBuf> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut cargo = Command::new(cargo);
    cargo
        .args(["rustdoc", "--quiet", "--lib", "--all-features", "--package"])
        .args([package, "--target-dir"])
        .arg(target)
        .args(["--", "-Z", "unstable-options", "--output-format", "json"])
        .current_dir(root);
    prepare(&mut cargo);
    let status = cargo.status().context("cannot start cargo")?;
    if !status.success() {
        bail!("rustdoc could not describe `{package}`: {status}");
    }
    let file = format!("{}.json", package.replace('-', "_"));
    Ok(target.join("doc").join(file))
}

/// Impls for every type, and those that the compiler decides on, say nothing of ours.
fn read(json: &Path) -> anyhow::Result<Vec<String>> {
    let interface = public_api::Builder::from_rustdoc_json(json)
        .omit_blanket_impls(true)
        .omit_auto_trait_impls(true)
        .build()
        .with_context(|| {
            let json = json.display();
            format!("cannot read {json}; the version of `public-api` goes with the toolchain")
        })?;
    Ok(interface.items().map(ToString::to_string).collect())
}

/// Passes a call of rustdoc on.
pub(crate) fn stand_in(rustdoc: OsString) -> anyhow::Result<ExitCode> {
    let status = Command::new(rustdoc)
        .args(std::env::args_os().skip(1))
        .env("RUSTC_BOOTSTRAP", "1")
        .status()
        .context("cannot start rustdoc")?;
    Ok(if status.success() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The list of a small crate.
    fn list(source: &str) -> Vec<String> {
        let folder = tempfile::tempdir().expect("a folder");
        let manifest = "[package]\nname = 'sm-all'\nedition = '2024'\n[workspace]\n";
        fs::write(folder.path().join("Cargo.toml"), manifest).expect("a manifest");
        fs::create_dir(folder.path().join("src")).expect("a folder");
        fs::write(folder.path().join("src/lib.rs"), source).expect("a source");
        // The crate has no build script that would ask for the variable.
        let target = folder.path().join("target");
        let json = document(folder.path(), "sm-all", &target, |cargo| {
            cargo.env("RUSTC_BOOTSTRAP", "1");
        });
        read(&json.expect("described")).expect("a list")
    }

    #[test]
    fn what_is_gone_renamed_or_hidden_is_found() {
        let old = list(
            "pub fn kept() {}\npub fn gone() {}\npub struct Named;\n#[derive(Clone)] pub struct Copied;",
        );
        let new = list(
            "pub fn kept() {}\npub struct Renamed;\npub struct Copied;\n\
             #[doc(hidden)] pub fn hidden() {}\nfn private() {}",
        );
        assert_eq!(difference(&old, &old), Vec::<String>::new());
        assert_eq!(
            difference(&old, &new),
            [
                "- impl core::clone::Clone for sm_all::Copied",
                "- pub fn sm_all::Copied::clone(&self) -> sm_all::Copied",
                "- pub fn sm_all::gone()",
                "- pub struct sm_all::Named",
                "+ pub struct sm_all::Renamed",
            ]
        );
    }
}
