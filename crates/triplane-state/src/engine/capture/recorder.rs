//! Noting what was refused, and recording it when storage works again.

use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use sqlx::SqliteConnection;
use uuid::Uuid;

use crate::engine::capture::gap::{Gap, GapCause};
use crate::engine::capture::spool;
use crate::engine::lease::LeaseHolder;
use crate::engine::store::{Connections, Lifetime};
use crate::error::StateError;

/// What one handle notes of its own capture.
#[derive(Debug)]
pub(crate) struct Capture {
    connections: Arc<Connections>,
    binding: Uuid,
    opened_at_us: i64,
    notes: Mutex<Notes>,
}

#[derive(Debug, Default)]
struct Notes {
    /// One for each cause.
    gaps: Vec<Gap>,
    /// Whether the opening marker is written.
    bound: bool,
    /// Whether the file beside the store was looked for.
    looked: bool,
}

const GAPS: &str = "\
    INSERT OR IGNORE INTO capture_gap \
        (public_id, cause, facts, first_at_us, last_at_us, recorded_at_us, detail) \
    SELECT gap.value ->> 'id', gap.value ->> 'cause', gap.value ->> 'facts', \
           gap.value ->> 'first_at_us', gap.value ->> 'last_at_us', ?2, gap.value ->> 'detail' \
    FROM json_each(?1) AS gap";

const OPENED: &str = "\
    INSERT INTO capture_binding (public_id, holder, opened_at_us) VALUES (?1, ?2, ?3)";

const CLOSED: &str = "UPDATE capture_binding SET closed_at_us = max(?2, opened_at_us) \
    WHERE public_id = ?1";

impl Capture {
    pub(crate) fn new(connections: Arc<Connections>) -> Self {
        Self {
            binding: Uuid::now_v7(),
            opened_at_us: connections.now_us(),
            notes: Mutex::default(),
            connections,
        }
    }

    /// Notes that `facts` were refused with `error`.
    pub(crate) fn note(&self, facts: u64, error: &StateError) {
        let Some(cause) = GapCause::of_commit(error) else {
            return;
        };
        let now_us = self.connections.now_us();
        let mut notes = self.notes();
        match notes.gaps.iter_mut().find(|gap| gap.cause == cause) {
            Some(gap) => {
                gap.facts = gap.facts.saturating_add(facts);
                gap.first_at_us = gap.first_at_us.min(now_us);
                gap.last_at_us = gap.last_at_us.max(now_us);
            }
            None => notes.gaps.push(Gap::new(cause, facts, now_us, error)),
        }
    }

    /// Whether a commit that has worked leaves anything to record.
    pub(crate) fn has_notes(&self) -> bool {
        let notes = self.notes();
        !notes.looked || !notes.gaps.is_empty() || (!notes.bound && self.stays())
    }

    /// A commit has worked: what was noted is recorded, and that this handle is there.
    pub(crate) async fn committed(&self) {
        let (gaps, bind, look) = {
            let mut notes = self.notes();
            let bind = !notes.bound && self.stays();
            let look = !std::mem::replace(&mut notes.looked, true);
            (std::mem::take(&mut notes.gaps), bind, look)
        };
        if look {
            self.take_spool().await;
        }
        if !bind && gaps.is_empty() {
            return;
        }
        let recorded = self
            .record(gaps.clone(), bind.then_some(Marker::Opened))
            .await;
        let mut notes = self.notes();
        if recorded.is_ok() {
            notes.bound |= bind;
        } else {
            notes.gaps.extend(gaps);
        }
    }

    /// Records what waits in the file beside the store, if anything does.
    pub(crate) async fn take_spool(&self) {
        let Some(waiting) = spool::take(self.connections.options.path()) else {
            return;
        };
        if self.record(waiting.gaps.clone(), None).await.is_ok() {
            waiting.remove();
        }
    }

    /// Records what is left and writes the closing marker. What cannot be recorded waits beside the
    /// store.
    pub(crate) async fn close(&self) {
        let (gaps, bound) = {
            let mut notes = self.notes();
            (
                std::mem::take(&mut notes.gaps),
                std::mem::take(&mut notes.bound),
            )
        };
        if bound {
            // Without the marker the interval counts as not known, which is what it is.
            let recorded = self.record(gaps.clone(), Some(Marker::Closed)).await;
            if recorded.is_ok() {
                return;
            }
        }
        // Storage that has just refused is not asked again: closing would wait once more.
        if !gaps.is_empty() {
            spool::append(self.connections.options.path(), &gaps).ok();
        }
    }

    /// Whether this handle is there for a while.
    fn stays(&self) -> bool {
        self.connections.options.lifetime == Lifetime::Long
    }

    async fn record(&self, gaps: Vec<Gap>, marker: Option<Marker>) -> Result<(), StateError> {
        if gaps.is_empty() && marker.is_none() {
            return Ok(());
        }
        let now_us = self.connections.now_us();
        let (binding, opened_at_us) = (self.binding, self.opened_at_us);
        self.connections
            .writer
            .transaction(|connection| {
                Box::pin(async move {
                    insert(connection, &gaps, now_us).await?;
                    let query = match marker {
                        Some(Marker::Opened) => sqlx::query(OPENED)
                            .bind(binding.to_string())
                            .bind(LeaseHolder::this_process().to_text())
                            .bind(opened_at_us),
                        Some(Marker::Closed) => {
                            sqlx::query(CLOSED).bind(binding.to_string()).bind(now_us)
                        }
                        None => return Ok(()),
                    };
                    query.execute(connection).await?;
                    Ok(())
                })
            })
            .await
    }

    fn notes(&self) -> std::sync::MutexGuard<'_, Notes> {
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Opened,
    Closed,
}

async fn insert(
    connection: &mut SqliteConnection,
    gaps: &[Gap],
    now_us: i64,
) -> Result<(), sqlx::Error> {
    if gaps.is_empty() {
        return Ok(());
    }
    let rows = gaps.iter().map(|gap| {
        json!({
            "id": gap.id.to_string(),
            "cause": gap.cause.as_str(),
            "facts": gap.facts,
            "first_at_us": gap.first_at_us,
            "last_at_us": gap.last_at_us,
            "detail": gap.detail.replace('\0', "\u{fffd}"),
        })
    });
    sqlx::query(GAPS)
        .bind(Value::Array(rows.collect()).to_string())
        .bind(now_us)
        .execute(connection)
        .await?;
    Ok(())
}
