//! Disks that are full or cannot be written.

use std::fs;
use std::path::Path;
use std::process::Output;

use serde_json::Value;

use crate::failures::machine::Machine;
use crate::failures::row::{Said, event, session, show, skip};
use crate::program::{Place, shell_question, text};
use crate::rows::Rows;

/// What `triplane ARGUMENTS` says on that machine.
fn run(machine: &Machine, place: &Place, store: &Path, arguments: &[&str]) -> Output {
    let mut command = machine.inside(&place.command(arguments));
    // The last word is the place's own store, which lies on the other disk.
    let words: Vec<_> = command.get_args().map(ToOwned::to_owned).collect();
    let program = command.get_program().to_owned();
    command = std::process::Command::new(program);
    command
        .args(&words[..words.len() - 1])
        .arg(store)
        .stdin(std::process::Stdio::null());
    command.output().expect("the program runs")
}

/// What the hook says there, asked by a file in the place of standard input.
fn ask(machine: &Machine, place: &Place, store: &Path) -> Output {
    let question = place.file("question.json", &shell_question("ls"));
    let mut shell = std::process::Command::new("sh");
    shell
        .args(["-c", "exec \"$1\" hook --store \"$2\" < \"$3\"", "sh"])
        .arg(crate::program::program())
        .arg(store)
        .arg(question);
    machine.inside(&shell).output().expect("the program runs")
}

/// A copy of the store there: the database library resolves the links of a path, and so would not find the store
/// itself from here.
async fn rows_there(machine: &Machine, place: &Place, store: &Path) -> Rows {
    let seen = machine.seen(store);
    for suffix in ["", "-wal"] {
        let name = format!("copy.db{suffix}");
        fs::remove_file(place.path(&name)).ok();
        let mut from = seen.clone().into_os_string();
        from.push(suffix);
        // The log may have been emptied and removed.
        fs::copy(from, place.path(&name)).ok();
    }
    Rows::open(&place.path("copy.db")).await
}

fn denied(output: &Output, folder: &Path) -> Said {
    let said = Said::of(output, folder);
    let answer: Value = serde_json::from_str(&said.stdout).unwrap_or_default();
    let reason = &answer["hookSpecificOutput"]["permissionDecisionReason"];
    Said {
        stdout: reason.as_str().unwrap_or_default().to_owned(),
        ..said
    }
}

fn check(what: &str, said: &Said, exit: i32, stdout: &str, stderr: &str) {
    let shown = if said.stderr.is_empty() {
        &said.stdout
    } else {
        &said.stderr
    };
    show(what, said.exit, shown);
    let wanted = Said {
        exit: Some(exit),
        stdout: stdout.to_owned(),
        stderr: stderr.to_owned(),
    };
    assert_eq!(*said, wanted, "{what}");
}

#[test]
fn a_file_system_that_cannot_be_written_denies_and_says_so() {
    let place = Place::new();
    let disk = place.path("disk");
    fs::create_dir(&disk).expect("a folder");
    let session = session(&place);
    place.summary(&["replay", &session, "--json"]);
    fs::copy(place.store(), disk.join("state.db")).expect("a copy");
    let script = r#"mount --bind "$1" "$1" && mount -o remount,ro,bind "$1""#;
    let machine = match Machine::new(script, &disk) {
        Ok(machine) => machine,
        Err(why) => return skip("a read-only file system", &why),
    };
    let folder = place.folder();
    for (what, file, message) in [
        (
            "a store on a read-only file system",
            "state.db",
            "PLACE/disk/state.db cannot be written; look at its permissions and its file system",
        ),
        (
            "no store on a read-only file system",
            "new.db",
            "cannot make PLACE/disk/new.db: Read-only file system (os error 30)",
        ),
    ] {
        let store = disk.join(file);
        let said = denied(&ask(&machine, &place, &store), folder);
        let reason = format!("triplane cannot judge this: {message} [triplane.unavailable]");
        check(&format!("{what}: hook"), &said, 0, &reason, "");
        let said = Said::of(
            &run(&machine, &place, &store, &["replay", &session]),
            folder,
        );
        let message = format!("triplane: {message}\n");
        check(&format!("{what}: replay"), &said, 2, "", &message);
    }
}

#[tokio::test]
async fn a_full_disk_denies_loses_nothing_and_works_again_when_there_is_room() {
    let place = Place::new();
    let disk = place.path("disk");
    fs::create_dir(&disk).expect("a folder");
    let script = r#"mount -t tmpfs -o size=256k tmpfs "$1""#;
    let machine = match Machine::new(script, &disk) {
        Ok(machine) => machine,
        Err(why) => return skip("a full disk", &why),
    };
    let mut recording = String::new();
    for n in 0..1_000 {
        let command = if n % 20 == 0 {
            "rm -rf /"
        } else {
            "cargo check"
        };
        recording += &(event(command, n) + "\n");
    }
    let recording = place.file("recording.jsonl", &recording);
    let replay = ["replay", recording.to_str().expect("a path"), "--json"];
    let store = disk.join("state.db");
    let full = "there is no room on the disk of PLACE/disk/state.db; \
                make room and do this again, what was committed before stays";

    let output = run(&machine, &place, &store, &replay);
    let said = Said::of(&output, place.folder());
    show("a full disk: replay", said.exit, &said.stderr);
    assert_eq!(said.exit, Some(2));
    assert_eq!(said.stderr, format!("triplane: {full}\n"));
    let shown = said.stdout.lines().count();

    let dd = r#"dd if=/dev/zero of="$1/fill" bs=1k 2>/dev/null; true"#;
    machine.shell(dd, &disk);
    let said = denied(&ask(&machine, &place, &store), place.folder());
    let reason = format!("triplane cannot judge this: {full} [triplane.unavailable]");
    check("a full disk: hook", &said, 0, &reason, "");

    machine.shell(r#"mount -o remount,size=64m "$1""#, &disk);
    let mut rows = rows_there(&machine, &place, &store).await;
    assert_eq!(rows.torn().await, 0);
    let kept = rows.count("audit WHERE decision = 'denied'").await;
    assert!(
        kept >= i64::try_from(shown).expect("few"),
        "{shown} were shown, {kept} are there"
    );
    let output = run(&machine, &place, &store, &replay);
    let last = text(&output.stdout);
    let summary: Value =
        serde_json::from_str(last.lines().last().expect("a summary")).expect("JSON");
    show(
        "room again: replay",
        output.status.code(),
        &summary.to_string(),
    );
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    let mut rows = rows_there(&machine, &place, &store).await;
    assert_eq!(rows.count("operation").await, 1_000);
    assert_eq!((rows.torn().await, rows.holes().await), (0, 0));
}

#[test]
fn a_disk_that_is_full_at_any_moment_leaves_no_half_store() {
    let place = Place::new();
    let disk = place.path("disk");
    fs::create_dir(&disk).expect("a folder");
    let script = r#"mount -t tmpfs -o size=64k tmpfs "$1""#;
    let machine = match Machine::new(script, &disk) {
        Ok(machine) => machine,
        Err(why) => return skip("a disk that is full while a store is made", &why),
    };
    let session = session(&place);
    for kib in [64, 96, 128, 160, 192, 224, 256] {
        let store = disk.join(format!("{kib}.db"));
        machine.shell(&format!(r#"mount -o remount,size={kib}k "$1""#), &disk);
        run(&machine, &place, &store, &["replay", &session]);
        machine.shell(r#"mount -o remount,size=16m "$1""#, &disk);
        let made = machine.seen(&store).exists();
        let checked = run(&machine, &place, &store, &["store", "check"]);
        let said = Said::of(&checked, place.folder());
        assert_eq!(said.exit, Some(if made { 0 } else { 2 }), "{kib}: {said:?}");
        machine.shell(r#"rm -f "$1"/*"#, &disk);
    }
}

#[tokio::test]
async fn a_sink_on_a_full_disk_puts_off_what_it_cannot_take() {
    let place = Place::new();
    let disk = place.path("disk");
    fs::create_dir(&disk).expect("a folder");
    let machine = match Machine::new(r#"mount -t tmpfs -o size=4k tmpfs "$1""#, &disk) {
        Ok(machine) => machine,
        Err(why) => return skip("a sink on a full disk", &why),
    };
    let mut recording = String::new();
    for n in 0..40 {
        recording += &(event("ls", n) + "\n");
    }
    let recording = place.file("recording.jsonl", &recording);
    let recording = recording.to_str().expect("a path");
    let sink = disk.join("deliveries.jsonl");
    let option = format!("file:{}", sink.display());
    let replay = ["replay", recording, "--json", "--sink", &option];
    let output = run(&machine, &place, &place.store(), &replay);
    let last = text(&output.stdout);
    let summary: Value =
        serde_json::from_str(last.lines().last().expect("a summary")).expect("JSON");
    let mut rows = Rows::open(&place.store()).await;
    let errors = rows
        .texts("SELECT DISTINCT last_error FROM outbox WHERE last_error IS NOT NULL")
        .await;
    let said = errors
        .join(" / ")
        .replace(&place.folder().display().to_string(), "PLACE");
    show("a sink on a full disk: replay", output.status.code(), &said);
    assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
    assert_eq!(
        said,
        "PLACE/disk/deliveries.jsonl: cannot write: No space left on device (os error 28)"
    );
    assert_eq!(
        rows.count("outbox WHERE status = 'pending'").await,
        summary["pending"]
    );
    assert_eq!(rows.count("operation").await, 40);
    let written = fs::read_to_string(machine.seen(&sink)).expect("a sink file");
    assert_eq!(
        rows.count("outbox WHERE status = 'delivered'").await,
        i64::try_from(written.lines().count()).expect("few"),
        "what is delivered stands there, and nothing half written"
    );
}
