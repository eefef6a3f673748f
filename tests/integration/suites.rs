//! The conformance suites of the state plane, over what triplane brings along.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use triplane::sinks;
use triplane_testkit::suite::fact::{Told, fact};
use triplane_testkit::suite::store::{Started, Task, other};
use triplane_testkit::suite::{participant, sink, store};

const OTHER: &str = "TRIPLANE_SUITE_OTHER";

/// Starts this very program again, to do `task` to the store at `path`.
fn start(path: &Path, task: Task) -> Started {
    let mut child = Command::new(std::env::current_exe().expect("this program"))
        .args(["suites::the_second_process", "--exact", "--ignored"])
        .env(OTHER, format!("{} {}", task.as_str(), path.display()))
        .stdout(std::process::Stdio::null())
        .spawn()
        .expect("starts");
    Box::new(move || child.wait().is_ok_and(|ended| ended.success()))
}

#[tokio::test]
#[ignore = "the second process of the suite of the store, which starts it"]
async fn the_second_process() {
    let told = std::env::var(OTHER).expect("started by the suite");
    let (task, path) = told.split_once(' ').expect("a task and a path");
    other(&PathBuf::from(path), Task::parse(task).expect("a task")).await;
}

#[tokio::test]
async fn the_embedded_store_keeps_the_contract_of_stores() {
    let folder = tempfile::tempdir().expect("a folder");
    store::check(&folder.path().join("state.db"), start).await;
}

#[tokio::test]
async fn the_sinks_keep_the_contract_of_sinks() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = sinks::file(folder.path().join("deliveries.jsonl"));
    sink::check(Arc::new(file), &folder.path().join("file.db")).await;
    for words in [&["cat"][..], &["true", "{payload}"]] {
        let argv = sinks::argv(words.iter().copied()).expect("a command");
        let path = folder.path().join(format!("{}.db", words[0]));
        sink::check(Arc::new(argv), &path).await;
    }
}

#[tokio::test]
async fn participants_keep_their_contract() {
    let folder = tempfile::tempdir().expect("a folder");
    let facts = || {
        let keys = ["1", "2", "3"];
        keys.map(|key| fact("s", key, r#"{"a":[1,null]}"#)).into()
    };
    let path = folder.path().join("told.db");
    participant::check(&Told { sink: "suite" }, facts, &path).await;
}
