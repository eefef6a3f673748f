//! The lists of labels and bugs beside the code: none is missing on either side.

use std::collections::BTreeSet;
use std::path::Path;
use std::{fs, io};

use triplane_crash::bug::BUGS;
use triplane_crash::label::LABELS;

/// What stands in the first argument of every call of the macro `name` in the sources.
fn named(name: &str) -> io::Result<BTreeSet<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut found = BTreeSet::new();
    let mut folders = vec![root.join("crates"), root.join("tests/crash/src/bin/child")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|it| it == "rs") {
                let source = fs::read_to_string(&path)?;
                let call = format!("{name}!(\"");
                let calls = source.split(&call).skip(1);
                found.extend(
                    calls.map(|call| call.split('"').next().unwrap_or_default().to_owned()),
                );
            }
        }
    }
    Ok(found)
}

#[test]
fn every_failpoint_is_in_the_list_and_every_label_in_the_code() {
    let listed: BTreeSet<_> = LABELS.iter().map(|&label| label.to_owned()).collect();
    assert_eq!(listed.len(), LABELS.len(), "a label stands twice");
    assert_eq!(listed, named("failpoint").expect("the sources can be read"));
}

#[test]
fn every_planted_bug_is_in_the_list_and_every_bug_in_the_code() {
    let listed: BTreeSet<_> = BUGS.iter().map(|bug| bug.name.to_owned()).collect();
    assert_eq!(listed.len(), BUGS.len(), "a bug stands twice");
    assert_eq!(listed, named("planted").expect("the sources can be read"));
}
