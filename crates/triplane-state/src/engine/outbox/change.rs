//! The one place where the state of an intent changes.

use std::collections::HashSet;

use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Row as _, SqliteConnection};

use crate::engine::outbox::status::{OutboxStatus, Reason};

/// One change of one intent, guarded by the status and attempt that it was decided on.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// The integer key of the intent.
    pub(crate) id: i64,
    pub(crate) from: OutboxStatus,
    pub(crate) from_attempt: u32,
    pub(crate) to: OutboxStatus,
    pub(crate) attempt: u32,
    /// How many attempts the sink answered with a failure.
    pub(crate) failures: u32,
    /// How many attempts nobody finished.
    pub(crate) interrupted: u32,
    /// How many attempts the sink took that no consumer has confirmed.
    pub(crate) unacked: u32,
    pub(crate) next_attempt_at_us: i64,
    pub(crate) reason: Reason,
    /// Who has the lease, while delivering.
    pub(crate) lease_holder: Option<String>,
    /// When the lease ends on the clock of [`Clock::boot_us`](crate::clock::Clock::boot_us).
    pub(crate) lease_boot_us: Option<i64>,
    /// What went wrong.
    pub(crate) error: Option<String>,
    /// What the sink gave for it.
    pub(crate) receipt: Option<String>,
    /// What an operator or a consumer said. Stands in the history only.
    pub(crate) remark: Option<String>,
    /// What is kept of earlier attempts.
    pub(crate) past: Past,
}

/// What a change keeps of earlier attempts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Past {
    /// The latest error stays, also when a later attempt goes well.
    Kept,
    /// An operator starts anew: no error, and no expiry that is over.
    Forgotten,
}

impl Change {
    /// A change of the intent `id`, which stands in `from` with `attempt` claims, to `to`: due at
    /// once, with nothing else changed.
    pub(crate) fn new(
        id: i64,
        (from, attempt): (OutboxStatus, u32),
        to: OutboxStatus,
        reason: Reason,
        now_us: i64,
    ) -> Self {
        Self {
            id,
            from,
            from_attempt: attempt,
            to,
            attempt,
            failures: 0,
            interrupted: 0,
            unacked: 0,
            next_attempt_at_us: now_us,
            reason,
            lease_holder: None,
            lease_boot_us: None,
            error: None,
            receipt: None,
            remark: None,
            past: Past::Kept,
        }
    }
}

/// How long a text from outside may be, in characters.
const TEXT_CHARS_MAX: usize = 2_000;

macro_rules! guarded {
    ($($statement:literal),+) => {
        concat!(
            $($statement,)+
            "outbox.id = change.value ->> 0 \
             AND outbox.status = change.value ->> 1 AND outbox.attempt = change.value ->> 2"
        )
    };
}

/// Which changes hold, as one JSON array: every row of an answer costs a wake-up.
pub(crate) const HELD: &str = guarded!(
    "SELECT json_group_array(outbox.id) \
     FROM json_each(?1) AS change CROSS JOIN outbox ON "
);

/// Written while the row still shows the state that the change is guarded by.
pub(crate) const HISTORY: &str = guarded!(
    "INSERT INTO outbox_transition \
        (outbox_id, ordinal, from_status, to_status, attempt, reason, detail, at_us) \
     SELECT outbox.id, \
        1 + (SELECT max(ordinal) FROM outbox_transition WHERE outbox_id = outbox.id), \
        outbox.status, change.value ->> 3, change.value ->> 4, change.value ->> 6, \
        coalesce(change.value ->> 8, change.value ->> 9, change.value ->> 13), ?2 \
     FROM json_each(?1) AS change CROSS JOIN outbox ON "
);

pub(crate) const UPDATE: &str = guarded!(
    "UPDATE outbox SET \
        status = change.value ->> 3, \
        attempt = change.value ->> 4, \
        next_attempt_at_us = change.value ->> 5, \
        lease_holder = change.value ->> 7, \
        last_error = CASE change.value ->> 14 WHEN 'forgotten' THEN NULL \
                     ELSE coalesce(change.value ->> 8, last_error) END, \
        expires_at_us = CASE WHEN change.value ->> 14 = 'forgotten' AND expires_at_us <= ?2 \
                        THEN NULL ELSE expires_at_us END, \
        receipt = coalesce(change.value ->> 9, receipt), \
        failures = change.value ->> 10, \
        interrupted = change.value ->> 11, \
        unacked = change.value ->> 12, \
        lease_boot_us = change.value ->> 15, \
        updated_at_us = ?2 \
     FROM json_each(?1) AS change WHERE "
);

/// Applies `changes` in the open transaction, and answers the keys of those that held.
///
/// A change whose guard does not hold any more writes nothing: somebody else was faster.
pub(crate) async fn apply_changes(
    connection: &mut SqliteConnection,
    changes: &[Change],
    now_us: i64,
) -> Result<HashSet<i64>, sqlx::Error> {
    if changes.is_empty() {
        return Ok(HashSet::new());
    }
    let values: Vec<Value> = changes.iter().map(Change::to_json).collect();
    // One round for the three: the parameters have the same numbers in each.
    let mut query = [HELD, HISTORY, UPDATE].join(";");
    if triplane_kernel::planted!("finish_not_fenced") {
        query = query.replace("AND outbox.attempt = change.value ->> 2", "");
    }
    if triplane_kernel::planted!("change_without_history") {
        query = [HELD, UPDATE].join(";");
    }
    let rows = sqlx::query(AssertSqlSafe(query))
        .bind(Value::Array(values).to_string())
        .bind(now_us)
        .fetch_all(connection)
        .await?;
    let held: &str = rows.first().ok_or(sqlx::Error::RowNotFound)?.try_get(0)?;
    serde_json::from_str(held).map_err(|error| sqlx::Error::Decode(error.into()))
}

impl Change {
    fn to_json(&self) -> Value {
        debug_assert!(self.from.may_become(self.to), "{self:?}");
        json!([
            self.id,
            self.from.as_str(),
            self.from_attempt,
            self.to.as_str(),
            self.attempt,
            self.next_attempt_at_us,
            self.reason.as_str(),
            self.lease_holder,
            self.error.as_deref().map(storable),
            self.receipt.as_deref().map(storable),
            self.failures,
            self.interrupted,
            self.unacked,
            self.remark.as_deref().map(storable),
            match self.past {
                Past::Kept => "kept",
                Past::Forgotten => "forgotten",
            },
            self.lease_boot_us,
        ])
    }
}

/// Text from outside as it is stored: cut, and without the NUL at which SQLite's JSON stops.
pub(crate) fn storable(text: &str) -> String {
    let cut = text.chars().take(TEXT_CHARS_MAX);
    cut.map(|c| {
        if c == '\0' {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_outside_is_cut_and_cleaned() {
        assert_eq!(storable("a\0b"), "a\u{fffd}b");
        assert_eq!(
            storable(&"é".repeat(10_000_000)),
            "é".repeat(TEXT_CHARS_MAX)
        );
        assert_eq!(storable(""), "");
    }
}
