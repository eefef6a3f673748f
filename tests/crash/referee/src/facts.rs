//! Facts: lost, invented, torn, out of order (I1 to I4).

use std::collections::{HashMap, HashSet};

use sqlx::Row as _;

use crate::finding::{Invariant, Verdict};
use crate::journal::{Entry, Planned};
use crate::rows::Rows;

/// Every id that stands in a table.
#[derive(Default)]
struct Present {
    /// Identity and id of operations.
    operations: HashMap<String, String>,
    audits: HashSet<String>,
    /// Id of a signal, and its sequence.
    signals: HashMap<String, u64>,
    /// Id of an intent, and its dedup key; purged ones too.
    intents: HashMap<String, Option<String>>,
    owner_rows: HashSet<String>,
}

impl Present {
    async fn read(rows: &mut Rows) -> Result<Self, sqlx::Error> {
        let mut present = Self::default();
        for row in rows
            .all("SELECT identity, public_id FROM operation")
            .await?
        {
            present.operations.insert(row.try_get(0)?, row.try_get(1)?);
        }
        present.audits = rows
            .texts("SELECT public_id FROM audit")
            .await?
            .into_iter()
            .collect();
        for row in rows
            .all("SELECT public_id, sequence FROM signal_log")
            .await?
        {
            let sequence: i64 = row.try_get(1)?;
            present
                .signals
                .insert(row.try_get(0)?, sequence.unsigned_abs());
        }
        let mut intents = "SELECT public_id, dedup_key FROM outbox".to_owned();
        if rows.has("outbox_tombstone").await? {
            intents.push_str(" UNION ALL SELECT public_id, dedup_key FROM outbox_tombstone");
        }
        for row in rows.all(&intents).await? {
            present.intents.insert(row.try_get(0)?, row.try_get(1)?);
        }
        if rows.has("job_done").await? {
            let jobs = rows.texts("SELECT identity FROM job_done").await?;
            present.owner_rows = jobs.into_iter().collect();
        }
        Ok(present)
    }

    /// Whether the intent of `planned` stands, or the first one with its dedup key.
    fn has_intent(&self, planned: &Planned) -> bool {
        let by_key = || {
            planned.dedup.is_some() && self.intents.values().any(|dedup| *dedup == planned.dedup)
        };
        self.intents.contains_key(&planned.intent) || by_key()
    }
}

/// What the journal says of facts.
#[derive(Default)]
struct Told<'j> {
    planned: HashMap<&'j str, Vec<&'j Planned>>,
    taken_back: HashSet<&'j str>,
}

pub(crate) async fn judge(
    rows: &mut Rows,
    journal: &[Entry],
    verdict: &mut Verdict,
) -> Result<(), sqlx::Error> {
    let present = Present::read(rows).await?;
    let mut told = Told::default();
    for entry in journal {
        match entry {
            Entry::Meant(planned) => told.planned.entry(&planned.key).or_default().push(planned),
            Entry::TakenBack { key } => {
                told.taken_back.insert(key);
            }
            _ => {}
        }
    }
    verdict.facts = present.operations.len() as u64;
    acknowledged(&present, journal, verdict);
    meant(&present, &told, verdict);
    whole(&present, &told, verdict);
    in_order(rows, &present, journal, verdict).await
}

/// I1.
fn acknowledged(present: &Present, journal: &[Entry], verdict: &mut Verdict) {
    for entry in journal {
        match entry {
            Entry::Acked { key, intent, .. } => {
                if !present.operations.contains_key(key) {
                    let says = format!("fact {key} was acknowledged and is not there");
                    verdict.find(Invariant::I1Lost, says);
                }
                if let Some(intent) = intent
                    && !present.intents.contains_key(intent)
                {
                    let says =
                        format!("intent {intent} of {key} was acknowledged and is not there");
                    verdict.find(Invariant::I1Lost, says);
                }
            }
            Entry::Refused { what, error } => {
                let says = format!("{what} was refused, and nothing stood against it: {error}");
                verdict.find(Invariant::I7Bounded, says);
            }
            _ => {}
        }
    }
}

/// I2.
fn meant(present: &Present, told: &Told<'_>, verdict: &mut Verdict) {
    let all = || told.planned.values().flatten();
    let audits: HashSet<_> = all().map(|it| it.audit.as_str()).collect();
    let signals: HashSet<_> = all().map(|it| it.signal.as_str()).collect();
    let intents: HashSet<_> = all().map(|it| it.intent.as_str()).collect();
    let mut invented = |what: &str, id: &str| {
        let says = format!("{what} {id} was never meant");
        verdict.find(Invariant::I2Invented, says);
    };
    for key in present.operations.keys() {
        if !told.planned.contains_key(key.as_str()) {
            invented("fact", key);
        }
        if told.taken_back.contains(key.as_str()) {
            invented("what was taken back, fact", key);
        }
    }
    for id in present
        .audits
        .iter()
        .filter(|id| !audits.contains(id.as_str()))
    {
        invented("audit row", id);
    }
    for id in present
        .signals
        .keys()
        .filter(|id| !signals.contains(id.as_str()))
    {
        invented("signal", id);
    }
    for id in present
        .intents
        .keys()
        .filter(|id| !intents.contains(id.as_str()))
    {
        invented("intent", id);
    }
    for key in present
        .owner_rows
        .iter()
        .filter(|key| !told.planned.contains_key(key.as_str()))
    {
        invented("owner's row", key);
    }
}

/// I3: of every telling of a fact, all rows stand or none, and one telling at most.
fn whole(present: &Present, told: &Told<'_>, verdict: &mut Verdict) {
    for (key, tellings) in &told.planned {
        let operation = present.operations.get(*key);
        let mut stands = false;
        for planned in tellings {
            let this = operation == Some(&planned.operation);
            stands |= this;
            let parts = [
                ("audit row", present.audits.contains(&planned.audit)),
                ("signal", present.signals.contains_key(&planned.signal)),
                (
                    "intent",
                    if this {
                        present.has_intent(planned)
                    } else {
                        present.intents.contains_key(&planned.intent)
                    },
                ),
            ];
            for (part, there) in parts.into_iter().filter(|(_, there)| *there != this) {
                let says = format!("of fact {key}, operation: {this}, {part}: {there}");
                verdict.find(Invariant::I3Torn, says);
            }
            if planned.owner_row && this != present.owner_rows.contains(*key) && tellings.len() == 1
            {
                let says = format!("of fact {key}, operation: {this}, owner's row: {}", !this);
                verdict.find(Invariant::I3Torn, says);
            }
        }
        if operation.is_some() && !stands {
            let says = format!("fact {key} stands under an operation that nobody has told");
            verdict.find(Invariant::I3Torn, says);
        }
    }
}

/// I4: dense sequences, in the order of commits and of what one process was told in turn.
async fn in_order(
    rows: &mut Rows,
    present: &Present,
    journal: &[Entry],
    verdict: &mut Verdict,
) -> Result<(), sqlx::Error> {
    let holes = rows
        .texts(
            "SELECT session_id || ': ' || count(*) || ' signals up to ' || max(sequence)
             FROM signal_log GROUP BY session_id
             HAVING count(*) <> max(sequence) OR min(sequence) <> 1",
        )
        .await?;
    let swapped = rows
        .texts(
            "SELECT one.session_id || ' at ' || one.sequence FROM signal_log AS one
             JOIN signal_log AS next ON next.session_id = one.session_id
                                    AND next.sequence = one.sequence + 1
             WHERE next.id < one.id",
        )
        .await?;
    for says in holes.into_iter().chain(swapped) {
        verdict.find(Invariant::I4Order, format!("session {says}"));
    }
    let mut planned = HashMap::new();
    let mut last: HashMap<(u32, &str), u64> = HashMap::new();
    for entry in journal {
        match entry {
            Entry::Meant(it) => {
                planned.insert(it.key.as_str(), it);
            }
            Entry::Acked {
                key,
                pid,
                sequence: Some(sequence),
                in_turn,
                ..
            } => {
                let Some(it) = planned.get(key.as_str()) else {
                    continue;
                };
                if present
                    .signals
                    .get(&it.signal)
                    .is_some_and(|found| found != sequence)
                {
                    let says = format!("{key} was acknowledged at {sequence} and stands elsewhere");
                    verdict.find(Invariant::I4Order, says);
                }
                if *in_turn {
                    let before = last.insert((*pid, it.session.as_str()), *sequence);
                    if before.is_some_and(|before| before >= *sequence) {
                        let says = format!("{key} was told later and stands earlier");
                        verdict.find(Invariant::I4Order, says);
                    }
                }
            }
            _ => {}
        }
    }
    Ok(())
}
