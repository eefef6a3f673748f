//! What arrived: never twice for one attempt, never beside a lease that runs, never unmeant (I1, I2,
//! I5).

use std::collections::{HashMap, HashSet};

use sqlx::Row as _;

use crate::finding::{Invariant, Verdict};
use crate::journal::{Entry, Moment, Received};
use crate::rows::Rows;

pub(crate) async fn judge(
    rows: &mut Rows,
    journal: &[Entry],
    received: &[Received],
    lease_us: i64,
    verdict: &mut Verdict,
) -> Result<(), sqlx::Error> {
    let mut meant = HashMap::new();
    for entry in journal {
        if let Entry::Meant(planned) = entry {
            meant.insert(planned.intent.as_str(), planned);
        }
    }
    let mut standing: HashMap<String, String> = HashMap::new();
    let mut sql = "SELECT public_id, status FROM outbox".to_owned();
    if rows.has("outbox_tombstone").await? {
        sql.push_str(" UNION ALL SELECT public_id, status FROM outbox_tombstone");
    }
    for row in rows.all(&sql).await? {
        standing.insert(row.try_get(0)?, row.try_get(1)?);
    }
    let begun = || received.iter().filter(|it| it.moment == Moment::Begun);
    for it in begun() {
        let intent = it.intent.as_str();
        if !meant.contains_key(intent) || !standing.contains_key(intent) {
            let says = format!("{intent} ({}) arrived and is not on record", it.key);
            verdict.find(Invariant::I2Invented, says);
        }
    }
    let arrived: HashSet<_> = begun().map(|it| it.intent.as_str()).collect();
    verdict.extra_attempts = (begun().count() - arrived.len()) as u64;
    for (intent, status) in &standing {
        let logged = meant
            .get(intent.as_str())
            .is_some_and(|it| it.sink != "file");
        if status == "delivered" && logged && !arrived.contains(intent.as_str()) {
            let says = format!("intent {intent} counts as delivered and never arrived");
            verdict.find(Invariant::I1Lost, says);
        }
    }
    attempts(received, lease_us, verdict);
    Ok(())
}

/// I5.
fn attempts(received: &[Received], lease_us: i64, verdict: &mut Verdict) {
    let mut seen = HashSet::new();
    let mut open: HashMap<&str, &Received> = HashMap::new();
    for it in received {
        let intent = it.intent.as_str();
        match it.moment {
            Moment::Ended => {
                if open
                    .get(intent)
                    .is_some_and(|open| open.attempt == it.attempt)
                {
                    open.remove(intent);
                }
            }
            Moment::Begun => {
                if !seen.insert((intent, it.attempt)) {
                    let says = format!("attempt {} of {intent} arrived twice", it.attempt);
                    verdict.find(Invariant::I5Duplicates, says);
                }
                let Some(pid) = it.pid else {
                    continue;
                };
                // Another process may have been killed by now; this one has not.
                if let Some(before) = open.insert(intent, it)
                    && before.pid == Some(pid)
                    // A slow worker may begin when its own lease is over: at least once.
                    && it.attempt > before.attempt
                    && let (Some(then), Some(now)) = (before.leased_us, it.boot_us)
                    && now - then < lease_us
                {
                    let says = format!(
                        "attempt {} of {intent} began {} us into the lease of attempt {}",
                        it.attempt,
                        now - then,
                        before.attempt
                    );
                    verdict.find(Invariant::I5Duplicates, says);
                }
            }
        }
    }
}
