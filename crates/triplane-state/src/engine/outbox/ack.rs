//! The acknowledgement tier: the consumer confirms with a token that came with the delivery.
//!
//! Every attempt carries a token of its own, and each of them acknowledges the intent: a consumer
//! that is slow answers with the token of an attempt that others have followed already. The store
//! keeps digests only, so whoever reads it cannot acknowledge.

use serde::Serialize;
use sqlx::{Row as _, SqliteConnection};
use subtle::{Choice, ConstantTimeEq as _};

use crate::engine::digest::sha256_hex;
use crate::engine::outbox::change::{Change, apply_changes};
use crate::engine::outbox::status::{OutboxStatus, Reason};

/// The digests of the tokens that go along with claimed attempts.
pub(crate) const ISSUE: &str = "\
    INSERT INTO outbox_ack (outbox_id, attempt, token_digest) \
    SELECT issued.value ->> 0, issued.value ->> 1, issued.value ->> 2 \
    FROM json_each(?1) AS issued";

/// The intent and where it stands.
pub(crate) const FOUND: &str = "\
    SELECT id, status, attempt, failures, interrupted, unacked, ack_required \
    FROM outbox WHERE public_id = ?1";

/// The tokens of an intent.
pub(crate) const TOKENS: &str =
    "SELECT attempt, token_digest FROM outbox_ack WHERE outbox_id = ?1 ORDER BY attempt";

/// What became of an acknowledgement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "result", rename_all = "snake_case")]
#[must_use]
#[non_exhaustive]
pub enum Acknowledgement {
    /// The intent is acknowledged, with the token of this attempt.
    Acked {
        /// The attempt whose token was presented.
        attempt: u32,
    },
    /// The token is right, and the intent was acknowledged before. Nothing was written.
    Before,
    /// There is no such intent.
    Unknown,
    /// The intent asks for no acknowledgement: it is done when its sink has taken it.
    NotAsked,
    /// No attempt was made yet, so nobody can have a token.
    NotSent,
    /// The token is not one that was sent with this intent.
    WrongToken,
    /// The token is right, and the intent was given up or ran out of time before it came.
    TooLate {
        /// Where the intent stands.
        status: OutboxStatus,
    },
}

/// The stored form of a token.
pub(crate) fn token_digest(token: &str) -> String {
    sha256_hex([token.as_bytes()])
}

/// Acknowledges the intent with the public id `id`, in the open transaction.
pub(crate) async fn acknowledge(
    connection: &mut SqliteConnection,
    id: &str,
    token: &str,
    now_us: i64,
) -> Result<Acknowledgement, sqlx::Error> {
    let found = sqlx::query(FOUND)
        .bind(id)
        .fetch_optional(&mut *connection)
        .await?;
    let Some(row) = found else {
        return Ok(Acknowledgement::Unknown);
    };
    if row.try_get::<i64, _>(6)? == 0 {
        return Ok(Acknowledgement::NotAsked);
    }
    let key: i64 = row.try_get(0)?;
    let tokens = sqlx::query(TOKENS)
        .bind(key)
        .fetch_all(&mut *connection)
        .await?;
    if tokens.is_empty() {
        return Ok(Acknowledgement::NotSent);
    }
    let presented = token_digest(token);
    let mut attempt = None;
    // Every token is looked at, each to its end.
    for sent in &tokens {
        let digest: &str = sent.try_get(1)?;
        let same: Choice = digest.as_bytes().ct_eq(presented.as_bytes());
        if bool::from(same) {
            attempt = Some(sent.try_get(0)?);
        }
    }
    let Some(attempt) = attempt else {
        return Ok(Acknowledgement::WrongToken);
    };
    let status = OutboxStatus::read(&row, 1)?;
    if status == OutboxStatus::Acked {
        return Ok(Acknowledgement::Before);
    }
    if !status.may_become(OutboxStatus::Acked) {
        return Ok(Acknowledgement::TooLate { status });
    }
    let change = Change {
        failures: row.try_get(3)?,
        interrupted: row.try_get(4)?,
        unacked: row.try_get(5)?,
        remark: Some(format!("with the token of attempt {attempt}")),
        ..Change::new(
            key,
            (status, row.try_get(2)?),
            OutboxStatus::Acked,
            Reason::Acked,
            now_us,
        )
    };
    triplane_kernel::failpoint!("ack.before_change");
    // The row was read under the same lock, so the change holds.
    apply_changes(connection, &[change], now_us).await?;
    triplane_kernel::failpoint!("ack.changed");
    Ok(Acknowledgement::Acked { attempt })
}
