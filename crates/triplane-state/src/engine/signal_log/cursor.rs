//! Where a reader stands: a position that no other copy of the store can mistake for its own.

use std::fmt;
use std::str::FromStr;

use serde::{Serialize, Serializer};
use uuid::Uuid;

use crate::engine::signal_log::read::SignalRecord;
use crate::error::StateError;

/// Where a reader of the log stands, in one epoch of one store.
///
/// A backup gets an epoch of its own: the numbers of its log part from those of the original as soon
/// as either is written to. A cursor of another epoch is therefore refused, and so is one beyond the
/// end of the log, which a file that was copied by hand can come to.
///
/// Its text is the epoch, a colon and the number, such as `0199a3c4-5a1b-7c3d-8e4f-001122334455:40`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SignalCursor {
    epoch: Uuid,
    after: u64,
}

/// A text that is no cursor.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{text:?} is no cursor; a cursor is a store epoch and a number, such as EPOCH:40")]
pub struct CursorUnreadable {
    /// The text.
    pub text: String,
}

impl SignalCursor {
    pub(crate) fn new(epoch: Uuid, after: u64) -> Self {
        Self { epoch, after }
    }

    /// The epoch of the store that it belongs to.
    pub fn epoch(&self) -> Uuid {
        self.epoch
    }

    /// How far has been read: a sequence in the log of one session, a position in the whole log. 0
    /// is the beginning.
    pub fn after(&self) -> u64 {
        self.after
    }

    /// Fails unless it belongs to the epoch `store`.
    pub(crate) fn check_epoch(&self, store: Uuid) -> Result<(), StateError> {
        if self.epoch == store {
            return Ok(());
        }
        Err(StateError::CursorOfAnotherEpoch {
            cursor: self.epoch,
            store,
        })
    }
}

impl fmt::Display for SignalCursor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.epoch, self.after)
    }
}

impl FromStr for SignalCursor {
    type Err = CursorUnreadable;

    fn from_str(text: &str) -> Result<Self, CursorUnreadable> {
        let read = || {
            let (epoch, after) = text.split_once(':')?;
            let plain = after.bytes().all(|byte| byte.is_ascii_digit());
            let after = plain.then(|| after.parse::<i64>().ok())??;
            Some(Self::new(
                Uuid::parse_str(epoch).ok()?,
                after.unsigned_abs(),
            ))
        };
        read().ok_or_else(|| CursorUnreadable {
            text: text.to_owned(),
        })
    }
}

impl Serialize for SignalCursor {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A page of the log.
#[derive(Debug, Clone, Serialize)]
#[non_exhaustive]
pub struct SignalPage {
    /// The rows, in the order of the log.
    pub signals: Vec<SignalRecord>,
    /// Where to go on.
    pub next: SignalCursor,
    /// Where the log ended when the page was read. Given as the cutoff of the next pages, it keeps a
    /// reader from running after a writer that never rests.
    pub end: u64,
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::engine::handle::Store;
    use crate::engine::store::StoreOptions;
    use crate::engine::testing::{TestStore, fact, receipt};

    #[test]
    fn a_cursor_is_read_as_it_is_written() {
        let cursor = SignalCursor::new(Uuid::nil(), 40);
        assert_eq!(cursor.to_string().parse(), Ok(cursor));
        for wrong in [
            "",
            "40",
            ":40",
            "x:40",
            "00000000-0000-0000-0000-000000000000:-1",
        ] {
            assert!(wrong.parse::<SignalCursor>().is_err(), "{wrong}");
        }
        let large = format!("{}:{}", Uuid::nil(), u64::MAX);
        assert!(large.parse::<SignalCursor>().is_err());
    }

    async fn with_signals(count: u32) -> TestStore {
        let test = TestStore::open().await;
        for number in 0..count {
            let _receipt = receipt(test.commit(fact(&number.to_string(), "d")).await);
        }
        test
    }

    #[tokio::test]
    async fn pages_end_at_the_cutoff_that_the_first_of_them_found() {
        let test = with_signals(5).await;
        for session in [Some("s1"), None] {
            let start = test.store.cursor(0).await.expect("reads");
            let first = test
                .store
                .page(session, &start, None, 2)
                .await
                .expect("reads");
            let _receipt = receipt(
                test.commit(fact(if session.is_some() { "6" } else { "7" }, "d"))
                    .await,
            );
            let (mut read, mut cursor) = (first.signals.len(), first.next);
            loop {
                let page = test.store.page(session, &cursor, Some(first.end), 2);
                let page = page.await.expect("reads");
                if page.signals.is_empty() {
                    break;
                }
                read += page.signals.len();
                cursor = page.next;
            }
            assert_eq!(read as u64, first.end, "{session:?}");
            assert_eq!(cursor.after(), first.end);
        }
    }

    #[tokio::test]
    async fn a_cursor_beyond_the_end_of_a_copied_file_is_refused_with_both_numbers() {
        let test = with_signals(3).await;
        test.store.close().await.expect("closes");
        let copy = test.path.with_file_name("copy.db");
        fs::copy(&test.path, &copy).expect("copies");
        let store = test.open_again().await;
        for number in 3..5 {
            let mut unit = store.begin(fact(&number.to_string(), "d"));
            unit.stage(&crate::engine::testing::Rows::default())
                .expect("stages");
            let _receipt = receipt(unit.commit().await.expect("commits"));
        }
        let cursor = store.cursor(5).await.expect("reads");
        store
            .page(Some("s1"), &cursor, None, 9)
            .await
            .expect("at the end");
        store.close().await.expect("closes");

        let copied = Store::open(StoreOptions::new(&copy)).await.expect("opens");
        for session in [Some("s1"), None] {
            let refused = copied.page(session, &cursor, None, 9).await;
            assert!(
                matches!(
                    refused,
                    Err(StateError::CursorBeyondEnd { after: 5, end: 3 })
                ),
                "{refused:?}"
            );
            let refused = copied.signals(session, 5, 9).await;
            let said = refused.expect_err("refused").to_string();
            assert!(said.contains('5') && said.contains('3'), "{said}");
            assert!(
                copied
                    .signals(session, 3, 9)
                    .await
                    .expect("reads")
                    .is_empty()
            );
        }
        let refused = copied.signals(Some("nobody"), 1, 9).await;
        assert!(
            matches!(
                refused,
                Err(StateError::CursorBeyondEnd { after: 1, end: 0 })
            ),
            "{refused:?}"
        );
        copied.close().await.expect("closes");
    }

    #[tokio::test]
    async fn a_cursor_of_another_epoch_is_refused_with_both_epochs() {
        let test = with_signals(2).await;
        let other = with_signals(2).await;
        let cursor = other.store.cursor(1).await.expect("reads");
        let refused = test.store.page(Some("s1"), &cursor, None, 9).await;
        let Err(StateError::CursorOfAnotherEpoch { cursor: of, store }) = refused else {
            panic!("{refused:?}");
        };
        assert_eq!(of, cursor.epoch());
        assert_eq!(store, test.store.cursor(0).await.expect("reads").epoch());
    }
}
