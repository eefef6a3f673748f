//! Source files that no module declares: the compiler never sees them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::finding::Finding;
use crate::rust::module_tree::{Extent, ModuleTree};
use crate::rust::source_files::rust_files;
use crate::workspace::{Member, Workspace};

/// Checks the files below `src` of every member.
pub(super) fn check(workspace: &Workspace) -> anyhow::Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for member in &workspace.members {
        // A target that cannot be read is reported with the order of its modules.
        let Ok(declared) = declared_files(workspace, member) else {
            continue;
        };
        for file in rust_files(&workspace.root, &member.folder.join("src"))? {
            if !declared.contains(&workspace.root.join(&file).canonicalize()?) {
                let message = "no module declares this file, so nobody compiles it".to_owned();
                findings.push(Finding::fails(&file, 0, message));
            }
        }
    }
    Ok(findings)
}

fn declared_files(workspace: &Workspace, member: &Member) -> anyhow::Result<BTreeSet<PathBuf>> {
    let folder = workspace.root.join(&member.folder);
    let mut roots: Vec<_> = ["src/lib.rs", "src/main.rs", "build.rs"]
        .iter()
        .map(|root| folder.join(root))
        .collect();
    roots.extend(
        rust_files(&folder, Path::new("src/bin"))?
            .iter()
            .map(|root| folder.join(root)),
    );
    let mut declared = BTreeSet::new();
    for root in roots.iter().filter(|root| root.is_file()) {
        for module in ModuleTree::read(root, Extent::WithTests)?.modules {
            declared.insert(module.file.canonicalize()?);
        }
    }
    Ok(declared)
}

#[cfg(test)]
mod tests {
    use crate::workspace::fixture;

    fn check(files: &[(&str, &str)], wanted: &[&str]) {
        let mut all = vec![
            ("Cargo.toml", "[workspace]\nmembers = ['a']\n"),
            ("a/Cargo.toml", "[package]\nname = 'a'\n"),
        ];
        all.extend_from_slice(files);
        let fixture = fixture::workspace(&all);
        let findings = super::check(&fixture.workspace).expect("readable");
        let got: Vec<_> = findings
            .iter()
            .map(|finding| finding.file.display().to_string())
            .collect();
        assert_eq!(got, wanted);
    }

    #[test]
    fn a_file_that_no_module_declares_is_named() {
        let lib = ("a/src/lib.rs", "mod b;\n#[cfg(test)]\nmod c;\n");
        let (b, c) = (("a/src/b.rs", ""), ("a/src/c/mod.rs", ""));
        check(&[lib, b, c], &[]);
        check(&[lib, b, c, ("a/src/d.rs", "")], &["a/src/d.rs"]);
        let build = ("a/build.rs", "#[path = \"src/d.rs\"]\nmod d;\n");
        check(&[lib, b, c, build, ("a/src/d.rs", "")], &[]);
    }
}
