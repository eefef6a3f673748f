//! Intents: their history replays to where they stand (I6), operators left a trace (I9), and all come
//! to an end (I7).

use std::collections::HashMap;

use sqlx::Row as _;

use crate::finding::{Invariant, Verdict};
use crate::journal::Entry;
use crate::rows::Rows;

/// One row of a history.
struct Step {
    ordinal: i64,
    from: Option<String>,
    to: String,
    attempt: i64,
    reason: String,
}

/// The edges of the outbox (ADR-0059), written down a second time.
const EDGES: &[(&str, &[&str])] = &[
    ("pending", &["delivering", "acked", "expired"]),
    (
        "delivering",
        &[
            "pending",
            "delivering",
            "delivered",
            "acked",
            "dead_letter",
            "expired",
        ],
    ),
    ("delivered", &["purged"]),
    ("acked", &["purged"]),
    ("dead_letter", &["pending", "purged"]),
    ("expired", &["pending", "purged"]),
];

pub(crate) async fn judge(
    rows: &mut Rows,
    journal: &[Entry],
    at_the_end: bool,
    verdict: &mut Verdict,
) -> Result<(), sqlx::Error> {
    let mut histories: HashMap<i64, Vec<Step>> = HashMap::new();
    let sql = "SELECT outbox_id, ordinal, from_status, to_status, attempt, reason
               FROM outbox_transition ORDER BY outbox_id, ordinal";
    for row in rows.all(sql).await? {
        histories.entry(row.try_get(0)?).or_default().push(Step {
            ordinal: row.try_get(1)?,
            from: row.try_get(2)?,
            to: row.try_get(3)?,
            attempt: row.try_get(4)?,
            reason: row.try_get(5)?,
        });
    }
    let mut statuses = HashMap::new();
    for row in rows
        .all("SELECT id, public_id, status, attempt FROM outbox")
        .await?
    {
        let (id, name): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
        let (status, attempt): (String, i64) = (row.try_get(2)?, row.try_get(3)?);
        let history = histories.get(&id).map_or(&[][..], Vec::as_slice);
        replay(&name, history, &status, attempt, verdict);
        if at_the_end && matches!(status.as_str(), "pending" | "delivering") {
            let says = format!("intent {name} is {status} after {attempt} attempts");
            verdict.find(Invariant::I7Bounded, says);
        }
        histories.remove(&id);
        statuses.insert(name, status);
    }
    purges(rows, &histories, journal, &statuses, verdict).await
}

/// I6.
fn replay(name: &str, history: &[Step], status: &str, attempt: i64, verdict: &mut Verdict) {
    let mut wrong = |says: String| {
        verdict.find(Invariant::I6Lifecycle, format!("intent {name}: {says}"));
    };
    let mut at: Option<&Step> = None;
    for step in history {
        let legal = match at {
            None => step.from.is_none() && step.to == "pending" && step.ordinal == 1,
            Some(before) => {
                let edges = EDGES.iter().find(|(from, _)| *from == before.to);
                step.from.as_deref() == Some(before.to.as_str())
                    && step.ordinal == before.ordinal + 1
                    && edges.is_some_and(|(_, to)| to.contains(&step.to.as_str()))
            }
        };
        if !legal {
            wrong(format!("step {} to {} is not legal", step.ordinal, step.to));
        }
        let counted = at.map_or(0, |before| before.attempt) + i64::from(step.to == "delivering");
        if step.attempt != counted {
            wrong(format!(
                "step {} to {} has attempt {}, {counted} were claimed",
                step.ordinal, step.to, step.attempt
            ));
        }
        at = Some(step);
    }
    let end = at.map(|step| (step.to.as_str(), step.attempt));
    if end != Some((status, attempt)) {
        wrong(format!(
            "stands at {status}, {attempt}; its history ends at {end:?}"
        ));
    }
}

/// I5: whoever claims what another one has claimed waits for the end of its lease.
pub(crate) async fn leases(
    rows: &mut Rows,
    lease_us: i64,
    verdict: &mut Verdict,
) -> Result<(), sqlx::Error> {
    let early = format!(
        "SELECT next.outbox_id || ', attempt ' || next.attempt FROM outbox_transition AS next
         JOIN outbox_transition AS before ON before.outbox_id = next.outbox_id
                                         AND before.ordinal = next.ordinal - 1
         WHERE before.to_status = 'delivering' AND next.to_status = 'delivering'
           AND next.at_us - before.at_us < {lease_us}"
    );
    for claim in rows.texts(&early).await? {
        let says = format!("intent number {claim} was claimed before the end of a lease");
        verdict.find(Invariant::I5Duplicates, says);
    }
    Ok(())
}

/// I9: what is gone was purged, with a row that tells of it.
async fn purges(
    rows: &mut Rows,
    gone: &HashMap<i64, Vec<Step>>,
    journal: &[Entry],
    statuses: &HashMap<String, String>,
    verdict: &mut Verdict,
) -> Result<(), sqlx::Error> {
    let mut tombstones = HashMap::new();
    if rows.has("outbox_tombstone").await? {
        let sql = "SELECT outbox_tombstone.outbox_id, outbox_tombstone.public_id,
                          outbox_tombstone.status, outbox_purge.reason
                   FROM outbox_tombstone JOIN outbox_purge
                     ON outbox_purge.id = outbox_tombstone.purge_id";
        for row in rows.all(sql).await? {
            let (id, name): (i64, String) = (row.try_get(0)?, row.try_get(1)?);
            tombstones.insert(id, (name, row.try_get::<String, _>(2)?));
        }
        let miscounted = rows
            .texts(
                "SELECT public_id FROM outbox_purge WHERE intents <> (
                     SELECT count(*) FROM outbox_tombstone WHERE purge_id = outbox_purge.id)",
            )
            .await?;
        for purge in miscounted {
            verdict.find(
                Invariant::I9Audit,
                format!("purge {purge} tells another number"),
            );
        }
    }
    for (id, history) in gone {
        let last = history.last();
        let Some((name, status)) = tombstones.get(id) else {
            let says = format!("intent number {id} is gone, and no purge tells of it");
            verdict.find(Invariant::I9Audit, says);
            continue;
        };
        let attempt = last.map_or(0, |step| step.attempt);
        replay(name, history, "purged", attempt, verdict);
        let before = history.iter().rev().nth(1).map(|step| step.to.as_str());
        if before != Some(status.as_str()) {
            let says = format!("purged intent {name} was {before:?}, its tombstone says {status}");
            verdict.find(Invariant::I9Audit, says);
        }
        if last.is_none_or(|step| step.reason != "dispatch.purged.operator") {
            let says = format!("purged intent {name} has no purge in its history");
            verdict.find(Invariant::I9Audit, says);
        }
    }
    let purged: Vec<_> = tombstones.values().map(|(name, _)| name.as_str()).collect();
    for entry in journal {
        match entry {
            Entry::Confirmed { intent } => {
                let acked = statuses.get(intent).is_some_and(|status| status == "acked");
                if !acked && !purged.contains(&intent.as_str()) {
                    let says = format!("intent {intent} was confirmed and is not acked");
                    verdict.find(Invariant::I1Lost, says);
                }
            }
            Entry::Purged { intents } => {
                for intent in intents.iter().filter(|it| !purged.contains(&it.as_str())) {
                    let says = format!("intent {intent} was purged and has no tombstone");
                    verdict.find(Invariant::I9Audit, says);
                }
            }
            _ => {}
        }
    }
    Ok(())
}
