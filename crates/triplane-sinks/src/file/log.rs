//! The file itself: opened, locked, mended, appended to.

use std::collections::HashSet;
use std::fs::{File, FileType, Metadata, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileTypeExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::fs::{FlockOperation, OFlags, flock};

use crate::file::refused::FileRefused;
use crate::file::tail::{End, end_of, take_found};
use crate::record::Record;

/// How far back a repeated record is looked for.
const WINDOW_BYTES: u64 = 8 * 1024 * 1024;

/// How long another process may hold the lock before the deliveries are put off.
const LOCK_WAIT_MAX: Duration = Duration::from_secs(5);

/// How long to wait before asking for the lock again.
const LOCK_POLL: Duration = Duration::from_millis(2);

/// How often a file that is replaced between opening and locking is opened anew.
const REOPENS_MAX: usize = 8;

/// A file that records are appended to. Every call may block.
#[derive(Debug)]
pub(crate) struct Log {
    path: PathBuf,
    lock_wait_max: Duration,
    /// Kept open from batch to batch; the mutex also makes the batches of this process wait here,
    /// where waiting is cheap, rather than for the file's lock.
    open: Mutex<Option<File>>,
}

/// What became of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Appended {
    /// It stands in the file, on the disk.
    Written,
    /// It stood there already, from an earlier attempt.
    AlreadyThere,
}

impl Log {
    pub(crate) fn new(path: PathBuf) -> Self {
        Self {
            path,
            lock_wait_max: LOCK_WAIT_MAX,
            open: Mutex::new(None),
        }
    }

    /// Opens the file now, creating it if need be.
    pub(crate) fn open(&self) -> Result<(), FileRefused> {
        let opened = self.open_file()?;
        *self.open.lock().unwrap_or_else(PoisonError::into_inner) = Some(opened);
        Ok(())
    }

    /// Appends `records` with one write, and returns when they are on the disk.
    ///
    /// Either all that are new stand in the file afterwards, or none and an error is returned. If
    /// even cutting off a partial write fails, what is left of it is mended by the next call.
    pub(crate) fn append(&self, records: &[Record]) -> Result<Vec<Appended>, FileRefused> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        let file = self.lock(open.take())?;
        let appended = self.append_locked(&file, records)?;
        // A file that failed is not kept: the next call starts from a fresh handle.
        let unlocked = flock(&file, FlockOperation::Unlock);
        unlocked.map_err(|error| self.io("unlock", error.into()))?;
        *open = Some(file);
        Ok(appended)
    }

    fn append_locked(&self, file: &File, records: &[Record]) -> Result<Vec<Appended>, FileRefused> {
        let mut length = file
            .metadata()
            .map_err(|error| self.io("inspect", error))?
            .len();
        let mut batch = Vec::new();
        match end_of(file, length).map_err(|error| self.io("read", error))? {
            End::Closed => {}
            End::Open => batch.push(b'\n'),
            End::Torn(start) => {
                file.set_len(start)
                    .map_err(|error| self.io("mend", error))?;
                length = start;
            }
        }
        let repeated = records.iter().filter(|record| record.repeated);
        let mut wanted: HashSet<_> = repeated.map(|record| record.key.clone()).collect();
        let found = take_found(file, length, WINDOW_BYTES, &mut wanted)
            .map_err(|error| self.io("read", error))?;
        let is_there = |record: &Record| record.repeated && found.contains(&record.key);
        let new_from = batch.len();
        for record in records.iter().filter(|record| !is_there(record)) {
            batch.extend_from_slice(&record.line);
        }
        if batch.len() > new_from {
            self.write_through(file, length, &batch)?;
        } else if !found.is_empty() {
            // The earlier attempt may have been killed between its write and its sync.
            file.sync_data().map_err(|error| self.io("sync", error))?;
        }
        let outcome = |record| {
            if is_there(record) {
                Appended::AlreadyThere
            } else {
                Appended::Written
            }
        };
        Ok(records.iter().map(outcome).collect())
    }

    fn write_through(&self, file: &File, length: u64, batch: &[u8]) -> Result<(), FileRefused> {
        let mut writer = file;
        let written = writer
            .write_all(batch)
            .map_err(|error| self.io("write", error));
        let synced =
            written.and_then(|()| file.sync_data().map_err(|error| self.io("sync", error)));
        if synced.is_err() {
            // A full disk takes part of a batch. What cannot be cut off now is a torn last line,
            // which the next call finds.
            let _ = file.set_len(length);
        }
        synced
    }

    /// The file that the path names now, locked.
    fn lock(&self, mut kept: Option<File>) -> Result<File, FileRefused> {
        for _ in 0..REOPENS_MAX {
            let file = match kept.take() {
                Some(file) => file,
                None => self.open_file()?,
            };
            self.wait_for_lock(&file)?;
            if self.is_current(&file)? {
                return Ok(file);
            }
        }
        Err(FileRefused::Unsteady {
            path: self.path.clone(),
        })
    }

    fn wait_for_lock(&self, file: &File) -> Result<(), FileRefused> {
        let started = Instant::now();
        loop {
            match flock(file, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(()),
                Err(rustix::io::Errno::WOULDBLOCK | rustix::io::Errno::INTR) => {}
                Err(error) => return Err(self.io("lock", error.into())),
            }
            let waited = started.elapsed();
            if waited > self.lock_wait_max {
                let path = self.path.clone();
                return Err(FileRefused::Locked { path, waited });
            }
            std::thread::sleep(LOCK_POLL);
        }
    }

    /// Whether the path still names `file`, which may have been moved away or deleted.
    fn is_current(&self, file: &File) -> Result<bool, FileRefused> {
        let identity = |metadata: &Metadata| (metadata.dev(), metadata.ino());
        let opened = file.metadata().map_err(|error| self.io("inspect", error))?;
        match std::fs::metadata(&self.path) {
            Ok(named) => Ok(identity(&named) == identity(&opened)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(self.io("inspect", error)),
        }
    }

    fn open_file(&self) -> Result<File, FileRefused> {
        match std::fs::metadata(&self.path) {
            // Looked at before it is opened: opening a pipe or a device can have effects.
            Ok(metadata) => self.check_kind(metadata.file_type())?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if let Some(file) = self.create()? {
                    return Ok(file);
                }
            }
            Err(error) => return Err(self.io("inspect", error)),
        }
        let file = options()
            .open(&self.path)
            .map_err(|error| self.io("open", error))?;
        let metadata = file.metadata().map_err(|error| self.io("inspect", error))?;
        self.check_kind(metadata.file_type())?;
        Ok(file)
    }

    /// Creates the file for its owner alone; `None` if somebody else was faster.
    fn create(&self) -> Result<Option<File>, FileRefused> {
        let folder = match self.path.parent() {
            Some(folder) if !folder.as_os_str().is_empty() => folder,
            _ => Path::new("."),
        };
        if !folder.is_dir() {
            return Err(FileRefused::NoFolder {
                path: self.path.clone(),
            });
        }
        match options().create_new(true).mode(0o600).open(&self.path) {
            Ok(file) => {
                // Without this the name of a new file can be lost with the power.
                let synced = File::open(folder).and_then(|folder| folder.sync_all());
                synced.map_err(|error| self.io("sync its folder", error))?;
                Ok(Some(file))
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(None),
            Err(error) => Err(self.io("create", error)),
        }
    }

    fn check_kind(&self, kind: FileType) -> Result<(), FileRefused> {
        let kind = match kind {
            kind if kind.is_file() => return Ok(()),
            kind if kind.is_dir() => "folder",
            kind if kind.is_fifo() => "pipe",
            kind if kind.is_socket() => "socket",
            _ => "device",
        };
        let path = self.path.clone();
        Err(FileRefused::NotAFile { path, kind })
    }

    fn io(&self, doing: &'static str, source: io::Error) -> FileRefused {
        let path = self.path.clone();
        FileRefused::Io {
            path,
            doing,
            source,
        }
    }
}

/// Not blocking, should the path have become a pipe since it was looked at.
fn options() -> OpenOptions {
    let nonblocking = OFlags::NONBLOCK.bits().cast_signed();
    let mut options = OpenOptions::new();
    options.read(true).append(true).custom_flags(nonblocking);
    options
}

#[cfg(test)]
mod tests;
