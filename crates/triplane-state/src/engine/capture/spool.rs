//! The file beside the store in which gaps wait for a store that can record them.
//!
//! A line of JSON for each. Whoever writes or takes the file holds its lock; whoever has recorded its
//! lines removes it under that lock. A process that dies between the two leaves the file, and the
//! ids of its lines keep them from being recorded twice.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use crate::engine::capture::gap::Gap;
use crate::engine::store::beside;

/// How much of the file is read. What is beyond was noted while nothing worked for very long.
const BYTES_MAX: u64 = 16 << 20;

fn place(store: &Path) -> PathBuf {
    beside(store, ".gaps")
}

/// Appends the gaps, and waits until they are on the disk.
pub(crate) fn append(store: &Path, gaps: &[Gap]) -> io::Result<()> {
    let mut lines = Vec::new();
    for gap in gaps {
        serde_json::to_writer(&mut lines, gap)?;
        lines.push(b'\n');
    }
    loop {
        let path = place(store);
        let mut file = OpenOptions::new()
            .append(true)
            .create(true)
            .mode(0o600)
            .open(&path)?;
        file.lock()?;
        // Whoever held the lock before may have removed the file.
        if stands_at(&file, &path) {
            file.write_all(&lines)?;
            return file.sync_data();
        }
    }
}

/// The gaps that wait, and the right to remove them.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) gaps: Vec<Gap>,
    path: PathBuf,
    file: File,
}

/// Takes what waits beside `store`; nothing when there is nothing, or when somebody else has it.
pub(crate) fn take(store: &Path) -> Option<Waiting> {
    let path = place(store);
    let mut file = OpenOptions::new().read(true).write(true).open(&path).ok()?;
    file.try_lock().ok()?;
    if !stands_at(&file, &path) {
        return None;
    }
    let mut text = String::new();
    (&mut file).take(BYTES_MAX).read_to_string(&mut text).ok()?;
    // A line that was cut by a full disk is no gap any more.
    let gaps = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    Some(Waiting {
        gaps: gaps.collect(),
        path,
        file,
    })
}

impl Waiting {
    /// Removes the file: its lines are recorded.
    pub(crate) fn remove(self) {
        // Under the lock, so that nobody appends to it meanwhile. If it stays it is taken again.
        fs::remove_file(&self.path).ok();
        drop(self.file);
    }
}

fn stands_at(file: &File, path: &Path) -> bool {
    let (Ok(open), Ok(there)) = (file.metadata(), path.metadata()) else {
        return false;
    };
    (open.dev(), open.ino()) == (there.dev(), there.ino())
}
