use std::fs::File;
use std::io::Read as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use rustix::fs::{OFlags, fcntl_setfl};

use super::*;

fn quick() -> Limits {
    Limits {
        time: Duration::from_secs(20),
        output_bytes_max: 1024,
        drain: Duration::from_millis(100),
    }
}

/// A script for `sh`, which finds the paths of `fifos` in `$1`, `$2` …
fn script(text: &str, fifos: &[&Path], limits: Limits) -> Invocation {
    let words = ["sh", "-c", text, "sh"].map(OsString::from).into_iter();
    let words = words.chain(fifos.iter().map(|fifo| fifo.as_os_str().to_owned()));
    Invocation::new(Argv::new(words).expect("an argument vector"), limits)
}

async fn run(invocation: Invocation) -> Completed {
    invocation.run(&Scope::new()).await
}

/// A named pipe.
async fn fifo(folder: &tempfile::TempDir, name: &str) -> PathBuf {
    let path = folder.path().join(name);
    let completed = run(script("mkfifo \"$1\"", &[&path], quick())).await;
    assert!(completed.is_success(), "{completed:?}");
    path
}

/// The reading end of a named pipe, opened without waiting for a writer.
fn reader_of(fifo: &Path) -> File {
    let nonblocking = i32::try_from(OFlags::NONBLOCK.bits()).expect("a flag");
    let opened = File::options()
        .read(true)
        .custom_flags(nonblocking)
        .open(fifo);
    let reader = opened.expect("a named pipe");
    fcntl_setfl(&reader, OFlags::empty()).expect("a blocking reader");
    reader
}

/// Reads until every process that had the pipe open for writing is gone.
fn read_until_all_writers_are_gone(mut reader: File) -> String {
    let mut text = String::new();
    reader.read_to_string(&mut text).expect("readable text");
    text
}

/// Starts a child that holds the pipe `$1` and the streams of its parent, and never ends; goes on
/// when the child has begun.
const ENDLESS_CHILD: &str = "(exec 3>\"$1\"; echo held >&3; echo >\"$3\"; read x <\"$2\") & \
                             read begun <\"$3\";";

/// The three pipes of [`ENDLESS_CHILD`], the reading end of the first, and one more for the test.
struct Pipes {
    paths: [PathBuf; 4],
    held: File,
    _folder: tempfile::TempDir,
}

impl Pipes {
    async fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let held = fifo(&folder, "held").await;
        let never_written = fifo(&folder, "never_written").await;
        let begun = fifo(&folder, "begun").await;
        let spare = fifo(&folder, "spare").await;
        Self {
            held: reader_of(&held),
            paths: [held, never_written, begun, spare],
            _folder: folder,
        }
    }

    fn script(&self, after: &str, limits: Limits) -> Invocation {
        let paths = self.paths.each_ref().map(PathBuf::as_path);
        script(&format!("{ENDLESS_CHILD} {after}"), &paths, limits)
    }
}

#[tokio::test]
async fn a_command_that_ends_by_itself_says_how() {
    let check = async |text: &str, wanted: &str| {
        let completed = run(script(text, &[], quick())).await;
        assert_eq!(format!("{:?}", completed.outcome), wanted, "{text}");
    };
    check("true", "Exited(0)").await;
    check("exit 3", "Exited(3)").await;
    check("kill -TERM $$", "Signalled(15)").await;
    check("kill -KILL $$", "Signalled(9)").await;
}

#[tokio::test]
async fn a_command_that_cannot_be_spawned_never_ran() {
    let spawn = async |invocation: Invocation| match run(invocation).await.outcome {
        Outcome::SpawnFailed(error) => error.kind(),
        other => panic!("{other:?}"),
    };
    let missing = Argv::new(["/no/such/program"]).expect("an argument vector");
    assert_eq!(
        spawn(Invocation::new(missing, quick())).await,
        io::ErrorKind::NotFound
    );
    let nowhere = script("true", &[], quick()).folder("/no/such/folder");
    assert_eq!(spawn(nowhere).await, io::ErrorKind::NotFound);
    let unnamed = script("true", &[], quick()).variable("A", "b\0c");
    assert_eq!(spawn(unnamed).await, io::ErrorKind::InvalidInput);
}

#[tokio::test]
async fn the_streams_are_kept_apart_and_within_the_limit() {
    let completed = run(script("echo out; echo err >&2", &[], quick())).await;
    assert_eq!(completed.stdout.text(), "out\n");
    assert_eq!(completed.stderr.text(), "err\n");
    let completed = run(script("head -c 1000000 /dev/zero", &[], quick())).await;
    assert!(completed.is_success());
    assert_eq!(completed.stdout.bytes_total(), 1_000_000);
    assert_eq!(completed.stdout.bytes_left_out(), 1_000_000 - 1024);
}

#[tokio::test]
async fn an_input_larger_than_a_pipe_arrives_whole_and_need_not_be_read() {
    let input = vec![b'x'; 1 << 20];
    let limits = Limits {
        output_bytes_max: usize::MAX,
        ..quick()
    };
    let completed = run(script("cat", &[], limits).input(input.clone())).await;
    assert_eq!(completed.stdout.whole(), Some(input.clone()));
    let completed = run(script("exit 0", &[], quick()).input(input)).await;
    assert!(completed.is_success(), "{completed:?}");
    let completed = run(script("cat", &[], quick())).await;
    assert_eq!(completed.stdout.bytes_total(), 0);
}

#[tokio::test]
async fn the_environment_and_the_folder_are_the_chosen_ones() {
    let env = |environment| {
        let argv = Argv::new(["/usr/bin/env"]).expect("an argument vector");
        let limits = Limits {
            output_bytes_max: 1 << 20,
            ..quick()
        };
        let invocation = Invocation::new(argv, limits).environment(environment);
        run(invocation.variable("TRIPLANE_KEY", "k 1"))
    };
    assert_eq!(
        env(Environment::Cleared).await.stdout.text(),
        "TRIPLANE_KEY=k 1\n"
    );
    let inherited = env(Environment::Inherited).await.stdout.text();
    assert!(
        inherited.contains("TRIPLANE_KEY=k 1\n") && inherited.contains("PATH="),
        "{inherited}"
    );
    let completed = run(script("pwd", &[], quick()).folder("/")).await;
    assert_eq!(completed.stdout.text(), "/\n");
}

#[tokio::test]
async fn a_timeout_kills_the_grandchild_that_holds_the_output() {
    let pipes = Pipes::new().await;
    let time = Duration::from_millis(500);
    let completed = run(pipes.script("echo begun; wait", Limits { time, ..quick() })).await;
    assert!(
        matches!(completed.outcome, Outcome::TimedOut),
        "{completed:?}"
    );
    assert_eq!(completed.containment, Containment::NotContained);
    read_until_all_writers_are_gone(pipes.held);
}

#[tokio::test]
async fn a_grandchild_that_outlives_its_parent_delays_the_report_only_by_the_drain() {
    let pipes = Pipes::new().await;
    let completed = run(pipes.script("echo done", quick())).await;
    assert!(completed.is_success(), "{completed:?}");
    assert_eq!(completed.stdout.text(), "done\n");
    assert!(completed.took < quick().time, "{completed:?}");
    assert_eq!(read_until_all_writers_are_gone(pipes.held), "held\n");
}

#[tokio::test]
async fn a_cancelled_scope_kills_the_group() {
    let pipes = Pipes::new().await;
    let scope = Scope::new();
    scope.cancel(CancelCause::Emitter);
    let completed = pipes.script("wait", quick()).run(&scope).await;
    let cancelled = matches!(completed.outcome, Outcome::Cancelled(CancelCause::Emitter));
    assert!(cancelled, "{completed:?}");
    read_until_all_writers_are_gone(pipes.held);
}

#[tokio::test]
async fn a_dropped_run_kills_the_group() {
    let pipes = Pipes::new().await;
    let spare = pipes.paths[3].clone();
    let begun = tokio::task::spawn_blocking(|| File::open(spare));
    let scope = Scope::new();
    let running = pipes.script("echo >\"$4\"; wait", quick());
    match select(Box::pin(running.run(&scope)), begun).await {
        Either::Left((completed, _)) => panic!("{completed:?}"),
        Either::Right((_, running)) => drop(running),
    }
    assert_eq!(read_until_all_writers_are_gone(pipes.held), "held\n");
}
