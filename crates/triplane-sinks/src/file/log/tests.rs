use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use triplane_process::{Argv, Invocation, Limits, Outcome, Scope};

use super::*;
use crate::record::tests::record;

struct Fixture {
    folder: tempfile::TempDir,
    log: Log,
}

impl Fixture {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let log = Log::new(folder.path().join("deliveries.jsonl"));
        Self { folder, log }
    }

    fn path(&self) -> &Path {
        &self.log.path
    }

    /// Appends records with these keys at this attempt.
    fn append(&self, attempt: u32, keys: &[&str]) -> Vec<Appended> {
        let records: Vec<_> = keys.iter().map(|key| record(key, attempt, "1")).collect();
        self.log.append(&records).expect("appended")
    }

    /// The keys of the lines in the file; of other lines the text.
    fn lines(&self) -> Vec<String> {
        keys_in(self.path())
    }
}

fn keys_in(path: &Path) -> Vec<String> {
    let text = fs::read_to_string(path).expect("a file");
    assert!(text.is_empty() || text.ends_with('\n'), "{text}");
    let key = |line: &str| match line.strip_prefix(r#"{"key":""#) {
        Some(rest) => rest.split('"').next().unwrap_or_default().to_owned(),
        None => line.to_owned(),
    };
    text.lines().map(key).collect()
}

#[test]
fn a_new_file_is_its_owners_alone_and_grows_at_its_end() {
    let fixture = Fixture::new();
    assert_eq!(fixture.append(1, &["a", "b"]), [Appended::Written; 2]);
    assert_eq!(fixture.append(1, &["c"]), [Appended::Written]);
    assert_eq!(fixture.append(1, &[]), []);
    assert_eq!(fixture.lines(), ["a", "b", "c"]);
    let mode = fs::metadata(fixture.path())
        .expect("a file")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn what_a_killed_process_left_is_mended_before_the_next_line() {
    let whole = String::from_utf8(record("old", 1, "1").line).expect("text");
    let check = |left: &str, wanted: &[&str]| {
        let fixture = Fixture::new();
        fs::write(fixture.path(), left).expect("what was left");
        fixture.append(1, &["new"]);
        assert_eq!(fixture.lines(), wanted, "{left}");
    };
    check(&whole, &["old", "new"]);
    check(&whole[..whole.len() - 1], &["old", "new"]);
    check(&whole[..whole.len() - 2], &["new"]);
    check(&whole[..9], &["new"]);
    check(&format!("{whole}{{\"k"), &["old", "new"]);
    check("hello", &["hello", "new"]);
    check("{\"other\":", &["{\"other\":", "new"]);
}

#[test]
fn a_repeated_record_is_written_once() {
    let fixture = Fixture::new();
    fixture.append(1, &["a", "b"]);
    let again = fixture.append(2, &["b", "c", "a"]);
    assert_eq!(
        again,
        [
            Appended::AlreadyThere,
            Appended::Written,
            Appended::AlreadyThere
        ]
    );
    assert_eq!(fixture.append(3, &["c"]), [Appended::AlreadyThere]);
    assert_eq!(fixture.lines(), ["a", "b", "c"]);
}

#[test]
fn a_torn_record_is_written_again() {
    let fixture = Fixture::new();
    let line = record("a", 1, "1").line;
    fs::write(fixture.path(), &line[..line.len() - 4]).expect("what was left");
    assert_eq!(fixture.append(2, &["a"]), [Appended::Written]);
    assert_eq!(fixture.lines(), ["a"]);
}

#[test]
fn a_file_that_was_moved_away_or_deleted_is_made_again() {
    let fixture = Fixture::new();
    fixture.append(1, &["a"]);
    let moved = fixture.folder.path().join("deliveries.1");
    fs::rename(fixture.path(), &moved).expect("moved");
    fixture.append(1, &["b"]);
    assert_eq!(
        (keys_in(&moved), fixture.lines()),
        (vec!["a".into()], vec!["b".into()])
    );
    fs::remove_file(fixture.path()).expect("removed");
    fixture.append(1, &["c"]);
    assert_eq!(fixture.lines(), ["c"]);
}

#[test]
fn what_is_not_a_file_is_refused_with_a_way_out() {
    let fixture = Fixture::new();
    let folder = fixture.folder.path();
    let check = |name: &str, wanted: &str| {
        let path = folder.join(name);
        let refused = Log::new(path.clone()).open().expect_err("not a file");
        let wanted = wanted.replace("PATH", &path.display().to_string());
        assert_eq!(refused.to_string(), wanted);
    };
    fs::create_dir(folder.join("sub")).expect("a folder");
    check(
        "sub",
        "PATH: this is a folder, not a file; name a regular file",
    );
    let _socket = std::os::unix::net::UnixListener::bind(folder.join("sock")).expect("a socket");
    check(
        "sock",
        "PATH: this is a socket, not a file; name a regular file",
    );
    rustix::fs::mkfifoat(rustix::fs::CWD, folder.join("pipe"), 0o600.into()).expect("a pipe");
    check(
        "pipe",
        "PATH: this is a pipe, not a file; name a regular file",
    );
    let missing = "PATH: its folder does not exist; create the folder or name another file";
    check("no/such/file", missing);
    let refused = Log::new("/dev/full".into()).open().expect_err("not a file");
    assert_eq!(
        refused.to_string(),
        "/dev/full: this is a device, not a file; name a regular file"
    );
}

#[test]
fn a_lock_of_another_process_puts_the_batch_off() {
    let mut fixture = Fixture::new();
    fixture.append(1, &["a"]);
    fixture.log.lock_wait_max = Duration::from_millis(10);
    let other = File::open(fixture.path()).expect("a file");
    flock(&other, FlockOperation::LockExclusive).expect("locked");
    let refused = fixture
        .log
        .append(&[record("b", 1, "1")])
        .expect_err("locked");
    assert!(matches!(refused, FileRefused::Locked { .. }), "{refused}");
    drop(other);
    fixture.append(1, &["b"]);
    assert_eq!(fixture.lines(), ["a", "b"]);
}

#[test]
fn writers_that_share_a_file_never_mix_their_lines() {
    let fixture = Fixture::new();
    let writers = 4;
    std::thread::scope(|scope| {
        for writer in 0..writers {
            let log = Log::new(fixture.path().to_owned());
            scope.spawn(move || {
                for batch in 0..25 {
                    let key = |n| format!("{writer}.{batch}.{n}");
                    let records: Vec<_> = (0..3).map(|n| record(&key(n), 1, "1")).collect();
                    log.append(&records).expect("appended");
                }
            });
        }
    });
    let lines = fixture.lines();
    assert_eq!(lines.len(), writers * 75);
    for batch in lines.chunks(3) {
        let stem = batch[0].strip_suffix('0').expect("a first line");
        assert_eq!(batch[1..], [format!("{stem}1"), format!("{stem}2")]);
    }
}

/// This program, running only the test `part` of this module, with a variable that tells it so.
fn part(name: &str, shell_first: &str, fixture: &Fixture, limits: Limits) -> Invocation {
    let test = std::env::current_exe().expect("this program");
    let name = format!("file::log::tests::{name}");
    let script = format!("{shell_first} exec \"$@\"");
    let words = ["sh", "-c", &script, "sh"].map(OsString::from).into_iter();
    let words = words.chain([test.into(), "--exact".into(), name.into()]);
    let argv = Argv::new(words).expect("an argument vector");
    Invocation::new(argv, limits).variable(PART, fixture.path())
}

const PART: &str = "TRIPLANE_TEST_FILE";

/// The part of the next test that is killed.
#[test]
fn part_a_writer_without_end() {
    let Some(path) = std::env::var_os(PART) else {
        return;
    };
    let log = Log::new(path.into());
    let payload = format!("\"{}\"", "x".repeat(300_000));
    loop {
        let records = ["a", "b", "c"].map(|key| record(key, 1, &payload));
        log.append(&records).expect("appended");
    }
}

#[tokio::test]
async fn a_killed_writer_leaves_whole_lines_once_the_next_one_has_come() {
    let fixture = Fixture::new();
    for time_ms in [30, 40, 50, 60, 70, 80, 90, 100] {
        let time = Duration::from_millis(time_ms);
        let limits = Limits {
            time,
            ..Limits::default()
        };
        let killed = part("part_a_writer_without_end", "", &fixture, limits);
        let completed = killed.run(&Scope::new()).await;
        assert!(
            matches!(completed.outcome, Outcome::TimedOut),
            "{completed:?}"
        );
        fixture.append(1, &["next"]);
        let text = fs::read_to_string(fixture.path()).expect("a file");
        for line in text.lines() {
            serde_json::from_str::<serde::de::IgnoredAny>(line).expect("a whole line");
        }
        assert_eq!(fixture.lines().last().map(String::as_str), Some("next"));
    }
    let from_the_killed = fixture.lines().iter().filter(|key| *key == "a").count();
    assert!(from_the_killed > 0, "no writer lived long enough to write");
}

/// The part of the next test that runs under a limit of the file size.
#[test]
fn part_a_full_disk_takes_no_part_of_a_batch() {
    let Some(path) = std::env::var_os(PART) else {
        return;
    };
    let log = Log::new(path.into());
    log.append(&[record("fits", 1, "1")]).expect("appended");
    let payload = format!("\"{}\"", "x".repeat(100_000));
    let batch = [record("small", 1, "1"), record("large", 1, &payload)];
    let refused = log.append(&batch).expect_err("no room");
    assert!(
        matches!(refused, FileRefused::Io { doing: "write", .. }),
        "{refused}"
    );
    log.append(&[record("after", 1, "1")]).expect("appended");
}

#[tokio::test]
async fn a_full_disk_takes_no_part_of_a_batch() {
    let fixture = Fixture::new();
    // A limit of the file size behaves like a full disk, once its signal is ignored: a write
    // takes what fits and the next one fails.
    let limited = "trap '' XFSZ; ulimit -f 8;";
    let name = "part_a_full_disk_takes_no_part_of_a_batch";
    let completed = part(name, limited, &fixture, Limits::default())
        .run(&Scope::new())
        .await;
    assert!(completed.is_success(), "{}", completed.stdout.text());
    assert_eq!(fixture.lines(), ["fits", "after"]);
}
