//! Stores that cannot be used, and stores that are taken away in the middle.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::Path;
use std::process::{Command, Stdio};

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{Connection as _, Executor as _, SqliteConnection};

use crate::failures::row::{
    Said, check_command, check_hook, check_refused, event, session, show, skip,
};
use crate::program::{Place, text};
use crate::rows::Rows;

const NO_STORE: &str =
    "PLACE/state.db: there is no store; triplane replay and triplane hook make one";

/// A database at `path`, made by raw SQL.
async fn database(path: &Path, sql: &'static str) -> SqliteConnection {
    let options = SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(true);
    let mut connection = SqliteConnection::connect_with(&options)
        .await
        .expect("a database");
    connection.execute(sql).await.expect("the SQL runs");
    connection
}

#[test]
fn a_store_that_does_not_exist_is_made_by_those_who_write_only() {
    let place = Place::new();
    for command in [
        &["deliver", "--once"][..],
        &["signals", "ls"],
        &["outbox", "ls"],
    ] {
        check_command("no store", &place, place.folder(), command, NO_STORE);
        assert!(!place.store().exists());
    }
    fs::write(place.store(), "").expect("a file");
    place.summary(&["replay", &session(&place), "--json"]);
    show("an empty file: replay", Some(0), "becomes a store");
}

#[test]
fn a_folder_in_the_stores_place_is_refused() {
    let place = Place::new();
    fs::create_dir(place.store()).expect("a folder");
    let message = "PLACE/state.db is not a file; name a file for the store";
    check_refused("a folder", &place, place.folder(), message);
}

#[test]
fn a_text_file_in_the_stores_place_is_refused_and_left_alone() {
    for content in ["hello\n".to_owned(), "a long text. ".repeat(10_000)] {
        let place = Place::new();
        fs::write(place.store(), &content).expect("a file");
        let message = "PLACE/state.db is not a triplane store: it is no SQLite database; \
                       move the file away or name another path";
        check_refused("a text file", &place, place.folder(), message);
        assert_eq!(fs::read_to_string(place.store()).expect("a file"), content);
    }
}

#[tokio::test]
async fn the_database_of_another_program_is_refused_and_left_alone() {
    for (sql, id) in [
        ("CREATE TABLE t (x)", "0x00000000"),
        (
            "CREATE TABLE t (x); PRAGMA application_id = 77",
            "0x0000004d",
        ),
    ] {
        let place = Place::new();
        let made = database(&place.store(), sql).await;
        made.close().await.expect("closes");
        let before = fs::read(place.store()).expect("a file");
        let message = format!(
            "PLACE/state.db is a database of another program (application id {id}); \
             name another path"
        );
        check_refused("another database", &place, place.folder(), &message);
        assert_eq!(fs::read(place.store()).expect("a file"), before);
    }
}

#[tokio::test]
async fn a_store_of_a_newer_program_is_refused() {
    let place = Place::new();
    place.summary(&["replay", &session(&place), "--json"]);
    let mut rows = Rows::open(&place.store()).await;
    let known = rows.number("PRAGMA user_version").await;
    let made = database(&place.store(), "PRAGMA user_version = 999").await;
    made.close().await.expect("closes");
    let message = format!(
        "PLACE/state.db has schema version 999, this program knows versions up to {known}; \
         use the newer triplane that wrote it"
    );
    check_refused("a newer version", &place, place.folder(), &message);
}

#[test]
fn a_link_that_leads_nowhere_is_not_followed_into_a_new_store() {
    let place = Place::new();
    std::os::unix::fs::symlink(place.path("nowhere"), place.store()).expect("a link");
    let message = "cannot open PLACE/state.db: No such file or directory (os error 2)";
    check_hook("a dangling link", &place, place.folder(), message);
    let replay = ["replay", &session(&place)];
    check_command("a dangling link", &place, place.folder(), &replay, message);
    assert!(!place.path("nowhere").exists());
}

#[test]
fn a_store_file_that_cannot_be_changed_denies_and_is_still_read() {
    let place = Place::new();
    let session = session(&place);
    place.summary(&["replay", &session, "--json"]);
    let attribute = |sign: &str| {
        let changed = Command::new("chattr").arg(sign).arg(place.store()).output();
        changed.map_or_else(
            |error| Err(format!("chattr cannot be started: {error}")),
            |output| {
                if output.status.success() {
                    Ok(())
                } else {
                    Err(text(&output.stderr))
                }
            },
        )
    };
    if let Err(why) = attribute("+i") {
        return skip("an immutable file", &why);
    }
    let message = "PLACE/state.db cannot be written; look at its permissions and its file system";
    check_hook("an immutable file", &place, place.folder(), message);
    let signals = place.run(&["signals", "ls", "--json"]);
    attribute("-i").expect("the mark can be taken back");
    show(
        "an immutable file: signals",
        signals.status.code(),
        "shows what is there",
    );
    assert!(signals.status.success(), "{}", text(&signals.stderr));
    assert_eq!(text(&signals.stdout).lines().count(), 2);
}

#[tokio::test]
async fn a_store_that_others_hold_for_too_long_is_named_and_not_waited_for_longer() {
    let place = Place::new();
    let session = session(&place);
    place.summary(&["replay", &session, "--json"]);
    let more = place.file("more.jsonl", &(event("ls", 7) + "\n"));
    let more = more.to_str().expect("a path");

    let holder = database(&place.store(), "BEGIN IMMEDIATE").await;
    let message = "PLACE/state.db was locked by others for TIME; let them finish, or wait longer";
    check_hook("a locked store", &place, place.folder(), message);
    for command in [
        &["replay", more, "--busy-timeout", "200ms"][..],
        &["deliver", "--once", "--busy-timeout", "200ms"],
    ] {
        check_command("a locked store", &place, place.folder(), command, message);
    }
    let signals = Said::of(&place.run(&["signals", "ls", "--json"]), place.folder());
    show(
        "a locked store: signals",
        signals.exit,
        "reads all the same",
    );
    assert_eq!((signals.exit, signals.stdout.lines().count()), (Some(0), 2));

    drop(holder.close().await);
    let summary = place.summary(&["replay", more, "--json"]);
    assert_eq!(
        (&summary["signals"], &summary["pending"]),
        (&1.into(), &0.into())
    );
}

#[tokio::test]
async fn a_store_that_is_taken_away_in_the_middle_is_noticed_and_nothing_is_made_in_its_place() {
    for (what, put) in [
        ("deleted while open", None),
        ("replaced while open", Some("other.db")),
    ] {
        let place = Place::new();
        let other = Place::new();
        other.summary(&["replay", &session(&other), "--json"]);
        fs::copy(other.store(), place.path("other.db")).expect("a copy");

        let pipe = place.path("pipe");
        let made = Command::new("mkfifo").arg(&pipe).status();
        assert!(made.expect("mkfifo runs").success());
        let mut replay = place
            .command(&["replay", "pipe", "--format", "hooks", "--json"])
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .expect("the program starts");
        let mut told = fs::OpenOptions::new()
            .write(true)
            .open(&pipe)
            .expect("the program reads");
        // A denial is shown when it is committed, and a commit is awaited behind 256 others.
        let mut recording = event("rm -rf /", 0) + "\n";
        for n in 1..400 {
            recording += &(event("ls", n) + "\n");
        }
        told.write_all(recording.as_bytes()).expect("it is read");
        let mut shown = String::new();
        BufReader::new(replay.stdout.take().expect("a pipe"))
            .read_line(&mut shown)
            .expect("a row");
        assert!(shown.contains("would_deny"), "{shown}");

        for suffix in ["", "-wal", "-shm"] {
            fs::remove_file(place.path(&format!("state.db{suffix}"))).ok();
        }
        if let Some(put) = put {
            fs::rename(place.path(put), place.store()).expect("is moved");
        }
        let before = fs::read(place.store()).ok();
        for n in 400..1_000 {
            // It may have ended by then.
            told.write_all((event("ls", n) + "\n").as_bytes()).ok();
        }
        drop(told);
        let said = Said::of(&replay.wait_with_output().expect("it ends"), place.folder());
        show(what, said.exit, &said.stderr);
        assert_eq!(
            (said.exit, said.stderr.as_str()),
            (
                Some(2),
                "triplane: PLACE/state.db was moved, deleted or replaced while it was open; \
                 put it back or do this again\n"
            ),
            "{what}"
        );
        assert_eq!(fs::read(place.store()).ok(), before, "{what}");

        // Done again, all of it is there.
        let whole = place.file("whole.jsonl", &recording);
        let summary = place.summary(&["replay", whole.to_str().expect("a path"), "--json"]);
        assert_eq!(summary["events"], 400);
        let mut rows = Rows::open(&place.store()).await;
        let told = "operation WHERE identity LIKE '%toolu_00%'";
        assert!(rows.count(told).await >= 400, "{what}");
        assert_eq!(rows.torn().await, 0, "{what}");
    }
}
