//! What a sink declares, held against how long an intent may be tried.

use std::time::Duration;

use sqlx::SqliteConnection;

use crate::clock::micros;
use crate::delivery::{Idempotency, SinkDeclaration, SinkDurability, SinkOrdering};
use crate::retry::RetryPolicy;

/// A sink as a worker has registered it.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct SinkRegistration {
    /// The name that intents call it by.
    pub name: String,
    /// What it declares.
    pub declaration: SinkDeclaration,
    /// The longest time from the first attempt to the last, every attempt and every wait included.
    pub horizon: Duration,
    /// How long after its first delivery an intent may be delivered a second time unnoticed; nothing
    /// when the destination remembers keys for at least the horizon.
    pub may_duplicate_after: Option<Duration>,
}

impl SinkRegistration {
    /// The sink `name` under a policy whose attempts hold a lease of `lease`.
    pub(crate) fn new(
        name: &str,
        declaration: SinkDeclaration,
        retry: RetryPolicy,
        lease: Duration,
    ) -> Self {
        let horizon = retry.horizon(lease);
        let may_duplicate_after = match declaration.idempotency {
            Idempotency::None => Some(Duration::ZERO),
            Idempotency::Window(window) if window < horizon => Some(window),
            Idempotency::Window(_) | Idempotency::Permanent => None,
        };
        Self {
            name: name.to_owned(),
            declaration,
            horizon,
            may_duplicate_after,
        }
    }

    /// Keeps it in the store, in the open transaction, for whoever looks at intents later.
    pub(crate) async fn keep(
        &self,
        connection: &mut SqliteConnection,
        now_us: i64,
    ) -> Result<(), sqlx::Error> {
        let (idempotency, window) = match self.declaration.idempotency {
            Idempotency::None => ("none", None),
            Idempotency::Window(window) => ("window", Some(micros(window))),
            Idempotency::Permanent => ("permanent", None),
        };
        let limit = self.declaration.payload_bytes_max;
        sqlx::query(KEEP)
            .bind(&self.name)
            .bind(idempotency)
            .bind(window)
            .bind(match self.declaration.durability {
                SinkDurability::Accepted => "accepted",
                SinkDurability::Fsynced => "fsynced",
            })
            .bind(match self.declaration.ordering {
                SinkOrdering::None => "none",
                SinkOrdering::PerSession => "per_session",
            })
            .bind(limit.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX)))
            .bind(micros(self.horizon))
            .bind(self.may_duplicate_after.map(micros))
            .bind(now_us)
            .execute(connection)
            .await?;
        Ok(())
    }
}

pub(crate) const KEEP: &str = "\
    INSERT OR REPLACE INTO delivery_sink \
        (name, idempotency, window_us, durability, ordering, payload_bytes_max, horizon_us, \
         may_duplicate_after_us, declared_at_us) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)";

#[cfg(test)]
mod tests {
    use super::*;

    fn check(idempotency: Idempotency, may_duplicate_after: Option<Duration>) {
        let declaration = SinkDeclaration::new(idempotency, SinkDurability::Accepted);
        let lease = Duration::from_secs(15);
        let found = SinkRegistration::new("sink", declaration, RetryPolicy::default(), lease);
        // 30 + 60 + 120 + 240 + 480 + 960 + 1800 s of waits, and eight leases.
        assert_eq!(found.horizon, Duration::from_secs(3_690 + 120));
        assert_eq!(
            found.may_duplicate_after, may_duplicate_after,
            "{idempotency:?}"
        );
    }

    #[test]
    fn a_window_shorter_than_the_horizon_may_let_a_repetition_through() {
        let minutes = Duration::from_mins;
        check(Idempotency::None, Some(Duration::ZERO));
        check(Idempotency::Window(minutes(2)), Some(minutes(2)));
        check(Idempotency::Window(minutes(63)), Some(minutes(63)));
        check(Idempotency::Window(minutes(64)), None);
        check(Idempotency::Permanent, None);
    }
}
