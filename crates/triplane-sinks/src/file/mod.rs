//! The file sink: each delivery is one line of JSON at the end of a file.
//!
//! A batch is one write and one `fdatasync` under an exclusive lock on the file, so several processes
//! may share it, and what is answered `Delivered` is on the disk. What a killed or full machine can
//! leave behind is dealt with at the next batch, under the lock:
//!
//! | found at the end of the file | done |
//! |---|---|
//! | a record of ours that is cut | cut off: its delivery was not answered and comes again |
//! | a whole record without its newline | the newline is added |
//! | text of somebody else without a newline | the newline is added |
//! | the line of an earlier attempt at the same intent | answered `Delivered`, not written again |
//!
//! The last row is looked for within the last 8 MiB only, and only when the intent says that it was
//! tried before; the sink therefore declares no idempotency. A reader tells repeated lines by their
//! `key`. A file that was moved away or deleted, as by a log rotation, is noticed and made again.
//! What is left out: rotation, and a bound on the size.

mod tail;
mod refused;
mod log;
mod sink;

pub use refused::FileRefused;
pub use sink::FileSink;
