//! Reading the file on a thread of its own, a bounded distance ahead of the work.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek as _};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use anyhow::{Context as _, Result, bail};
use tokio::sync::mpsc::{Receiver, channel};
use triplane_external_hooks::{Format, Item, Source, source};

/// How many entries travel together, and how many such batches may wait: enough to keep both sides
/// busy, little enough that memory does not grow with the file.
const BATCH: usize = 64;
const BATCHES_WAITING: usize = 4;

/// Also bounds what waits by its size: entries of many megabytes travel alone.
const BATCH_BYTES: u64 = 1 << 20;

/// How much of the file is read at a time.
const READ_BYTES: usize = 256 << 10;

/// The entries of a file, in order, and how far the reading has come.
pub(crate) struct Reading {
    pub(crate) format: Format,
    pub(crate) size: u64,
    pub(crate) read: Arc<AtomicU64>,
    pub(crate) batches: Receiver<Batch>,
}

/// Some entries, or what the operating system said instead of the next ones.
pub(crate) type Batch = io::Result<Vec<Item>>;

/// Opens `path` and starts to read it.
///
/// # Errors
///
/// A missing file, a folder, an empty file, and a file whose format cannot be guessed when none
/// is given.
pub(crate) fn start(path: &Path, format: Option<Format>, max_line: usize) -> Result<Reading> {
    let place = || path.display();
    let mut file = File::open(path).with_context(|| format!("cannot read {}", place()))?;
    let metadata = file
        .metadata()
        .with_context(|| format!("cannot read {}", place()))?;
    if metadata.is_dir() {
        bail!("{} is a folder; a recorded session is a file", place());
    }
    if metadata.is_file() && metadata.len() == 0 {
        bail!("{} is empty", place());
    }
    let format = match format {
        Some(format) => format,
        None if metadata.is_file() => guess(&mut file, path, max_line)?,
        None => bail!(
            "{} cannot be read twice; say with --format what it is",
            place()
        ),
    };
    let read = Arc::new(AtomicU64::new(0));
    let counted = Counted {
        file,
        read: Arc::clone(&read),
    };
    let source = BufReader::with_capacity(READ_BYTES, counted);
    let (sender, batches) = channel(BATCHES_WAITING);
    let so_far = Arc::clone(&read);
    std::thread::spawn(move || {
        let mut batch = Vec::with_capacity(BATCH);
        let mut sent_at = 0;
        for item in Source::new(source, format, max_line) {
            match item {
                Ok(item) => batch.push(item),
                Err(error) => {
                    let whole = std::mem::take(&mut batch);
                    if sender.blocking_send(Ok(whole)).is_ok() {
                        let _stopped = sender.blocking_send(Err(error));
                    }
                    return;
                }
            }
            let at = so_far.load(Ordering::Relaxed);
            if batch.len() >= BATCH || at - sent_at >= BATCH_BYTES {
                sent_at = at;
                let full = std::mem::replace(&mut batch, Vec::with_capacity(BATCH));
                if sender.blocking_send(Ok(full)).is_err() {
                    return;
                }
            }
        }
        let _stopped = sender.blocking_send(Ok(batch));
    });
    Ok(Reading {
        format,
        size: metadata.len(),
        read,
        batches,
    })
}

fn guess(file: &mut File, path: &Path, max_line: usize) -> Result<Format> {
    let place = || path.display();
    let format = source::guess(BufReader::with_capacity(READ_BYTES, &mut *file), max_line)
        .with_context(|| format!("cannot read {}", place()))?
        .with_context(|| {
            format!(
                "{}: no line is a hook event or an entry of a Claude Code transcript; if it is one \
                 all the same, say which with --format",
                place()
            )
        })?;
    file.rewind()
        .with_context(|| format!("cannot read {}", place()))?;
    Ok(format)
}

/// A file that counts the bytes that were read of it.
struct Counted {
    file: File,
    read: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let read = self.file.read(buffer)?;
        self.read.fetch_add(read as u64, Ordering::Relaxed);
        Ok(read)
    }
}
