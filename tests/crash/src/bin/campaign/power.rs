//! Power cuts: a store on a file system of its own, whose disk is a file. The child is stopped, the file
//! is copied as it is, and the copy is mounted as if the machine had just started.
//!
//! The copy is not taken in one instant: a loss is proof, no loss is only evidence.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use rustix::process::{Pid, Signal, getuid, kill_process};
use triplane_referee::Extent;

use crate::choice::Choice;
use crate::dice::Dice;
use crate::kills::tell;
use crate::process::{Ended, Order};
use crate::run::{CLOCK_START_US, CLOCK_STEP_US, Report, keep};
use crate::tally::Tally;

/// The size of the disk.
const DISK_BYTES: u64 = 48 << 20;
/// When the power is cut: a child has its first receipt after about a quarter of a second, and is done
/// a second later.
const WORK_FROM_US: u64 = 250_000;
const WORK_US: u64 = 600_000;

/// Cuts the power as often as asked; answers whether nothing is wrong.
pub(crate) fn run(choice: &Choice) -> anyhow::Result<bool> {
    if let Err(why) = permitted() {
        eprintln!("skipped: no file system can be mounted from a file here: {why:#}");
        return Ok(true);
    }
    let mut sum = Tally::new();
    for n in 0..choice.iterations {
        let report = cut(choice.seed.wrapping_add(n), choice.bug)?;
        tell(&report, choice.json);
        sum.add(&report.tally);
    }
    println!("{}", serde_json::to_string(&sum)?);
    Ok(sum.is_clean())
}

/// Whether a disk can be made and mounted.
fn permitted() -> anyhow::Result<()> {
    ensure!(getuid().is_root(), "this needs root");
    let folder = tempfile::tempdir()?;
    let disk = folder.path().join("disk");
    make(&disk)?;
    drop(Mounted::new(&disk, folder.path().join("mounted"))?);
    Ok(())
}

fn cut(seed: u64, bug: Option<&'static str>) -> anyhow::Result<Report> {
    let folder = tempfile::Builder::new()
        .prefix("triplane-power-")
        .tempdir()?;
    let path = folder.path();
    let mut report = Report::new(seed);
    let mut dice = Dice::new(seed);
    let disk = path.join("disk");
    make(&disk)?;
    let before = Mounted::new(&disk, path.join("before"))?;
    let after_us = WORK_FROM_US + dice.below(WORK_US);
    let working = Order {
        seed: dice.below(1_000),
        bug,
        store: Some(&before.at),
        ..Order::new(path, "work", CLOCK_START_US)
    };
    let mut child = working.start(&path.join("child.log"))?;
    std::thread::sleep(Duration::from_micros(after_us));
    let pid = Pid::from_raw(i32::try_from(child.id())?).context("a process has an id")?;
    kill_process(pid, Signal::STOP)?;
    let copied = fs::copy(&disk, path.join("copy"));
    kill_process(pid, Signal::KILL)?;
    child.wait()?;
    copied?;
    drop(before);

    report.tally.kills = 1;
    report.step = format!("cut after {after_us} us");
    let after = Mounted::new(&path.join("copy"), path.join("after"))?;
    let recovering = Order {
        store: Some(&after.at),
        ..Order::new(path, "recover", CLOCK_START_US + CLOCK_STEP_US)
    };
    match recovering.carry_out()? {
        Ended::Done => {}
        other => report.failed(&other),
    }
    let verdict = report.judge(path, &after.at, Extent::Recovered)?;
    report.tally.facts = verdict.facts;
    report.tally.dup_extra_attempts = verdict.extra_attempts;
    drop(after);
    keep(folder, &mut report);
    Ok(report)
}

/// Makes a file that is a disk with an empty file system.
fn make(disk: &Path) -> anyhow::Result<()> {
    fs::File::create(disk)?.set_len(DISK_BYTES)?;
    command("mkfs.ext4", &["-q".as_ref(), "-F".as_ref(), disk.as_ref()])
}

/// A mounted disk; unmounted when dropped.
struct Mounted {
    at: PathBuf,
}

impl Mounted {
    fn new(disk: &Path, at: PathBuf) -> anyhow::Result<Self> {
        fs::create_dir(&at)?;
        command(
            "mount",
            &["-o".as_ref(), "loop".as_ref(), disk.as_ref(), at.as_ref()],
        )?;
        Ok(Self { at })
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        if let Err(error) = command("umount", &[self.at.as_ref()]) {
            eprintln!("{error:#}");
        }
    }
}

fn command(program: &str, arguments: &[&std::ffi::OsStr]) -> anyhow::Result<()> {
    let ended = Command::new(program)
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .with_context(|| format!("cannot start {program}"))?;
    let says = String::from_utf8_lossy(&ended.stderr);
    ensure!(ended.status.success(), "{program}: {}", says.trim());
    Ok(())
}
