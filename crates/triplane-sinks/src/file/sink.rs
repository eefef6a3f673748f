//! The file as a sink.

use std::error::Error as _;
use std::path::PathBuf;
use std::sync::Arc;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use triplane_state::delivery::{
    DeliveryIntent, DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability,
    SinkOrdering,
};

use crate::file::log::{Appended, Log};
use crate::file::refused::FileRefused;
use crate::record::{Fields, Record};

/// A sink that appends each delivery as one JSON line to a file.
///
/// A file that it creates can be read by its owner only. See the [module](crate::file) for what a
/// crash can leave behind and how it is mended. Clones share one open file.
#[derive(Debug, Clone)]
pub struct FileSink {
    log: Arc<Log>,
}

impl FileSink {
    /// A sink to the file at `path`, which is opened, and created if need be, at the first delivery.
    ///
    /// A file that cannot be used then is answered with `Retry`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            log: Arc::new(Log::new(path.into())),
        }
    }

    /// A sink to the file at `path`, which is opened, and created if need be, at once. It blocks.
    ///
    /// # Errors
    ///
    /// [`FileRefused`] when the folder is missing, when something other than a regular file stands
    /// there, or when the system does not let this process create, read or write it.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, FileRefused> {
        let sink = Self::new(path);
        sink.log.open()?;
        Ok(sink)
    }
}

impl DeliverySink for FileSink {
    /// No idempotency, although repeated lines are recognised near the end of the file: that bound
    /// is one of bytes, not of time. `Fsynced`.
    fn declaration(&self) -> SinkDeclaration {
        SinkDeclaration::new(Idempotency::None, SinkDurability::Fsynced)
            .ordering(SinkOrdering::PerSession)
    }

    /// As [`deliver_batch`](Self::deliver_batch) with one intent.
    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        let batch = self.deliver_batch(std::slice::from_ref(intent));
        batch
            .map(|results| answer_of(results.into_iter().next()))
            .boxed()
    }

    /// Appends all intents with one write and one sync, on a blocking thread.
    ///
    /// Answers `Delivered` when the lines are on the disk, and `Retry` for each when they are not:
    /// then none of them stands in the file.
    ///
    /// # Cancel safety
    ///
    /// When the future is dropped the write still comes to its end. The next attempt finds the
    /// lines, if they are still near the end of the file.
    fn deliver_batch<'a>(
        &'a self,
        intents: &'a [DeliveryIntent],
    ) -> BoxFuture<'a, Vec<DeliveryResult>> {
        async move {
            let mut records = Vec::with_capacity(intents.len());
            let mut refused = Vec::with_capacity(intents.len());
            for intent in intents {
                match Record::of(&Fields::from(intent)) {
                    Ok(record) => {
                        records.push(record);
                        refused.push(None);
                    }
                    Err(error) => refused.push(Some(error)),
                }
            }
            let mut appended = self.append(records).await.into_iter();
            let answer = |refused: Option<serde_json::Error>| match refused {
                Some(error) => DeliveryResult::Reject {
                    reason: format!("not to be written as JSON: {error}"),
                },
                None => answer_of(appended.next()),
            };
            refused.into_iter().map(answer).collect()
        }
        .boxed()
    }
}

impl FileSink {
    async fn append(&self, records: Vec<Record>) -> Vec<DeliveryResult> {
        let count = records.len();
        let log = Arc::clone(&self.log);
        match tokio::task::spawn_blocking(move || log.append(&records)).await {
            Ok(Ok(appended)) => appended.into_iter().map(delivered).collect(),
            Ok(Err(error)) => vec![retry(&error); count],
            Err(error) => vec![unknown(&format!("the write was lost: {error}")); count],
        }
    }
}

/// There is one answer for each intent; should one be missing, nothing is known.
fn answer_of(result: Option<DeliveryResult>) -> DeliveryResult {
    result.unwrap_or_else(|| unknown("the file gave no answer"))
}

fn delivered(appended: Appended) -> DeliveryResult {
    DeliveryResult::Delivered(match appended {
        Appended::Written => None,
        Appended::AlreadyThere => Some("in the file already".to_owned()),
    })
}

fn retry(error: &FileRefused) -> DeliveryResult {
    let error = match error.source() {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    };
    DeliveryResult::Retry { error, after: None }
}

fn unknown(error: &str) -> DeliveryResult {
    let error = error.to_owned();
    DeliveryResult::Unknown { error }
}
