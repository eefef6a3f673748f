//! The rows of units, written inside an open transaction.
//!
//! Two rounds whatever the number of units: one reads what is on record and the next free numbers,
//! then everything is decided in memory (the write lock is held, so nothing changes meanwhile), and
//! one more writes all rows, with one statement per table.

use std::collections::HashMap;
use std::sync::Arc;

use sqlx::{Connection as _, SqliteConnection};

use crate::clock::{Clock as _, SystemClock};
use crate::commit::{PendingFact, Staged};
use crate::engine::commit::identity::{OnRecord, Place, place};
use crate::engine::commit::lookup::{Lookup, SessionEnd};
use crate::engine::commit::receipt::{
    Committed, Enqueued, IntentReceipt, Receipt, Recorded, SignalReceipt,
};
use crate::engine::commit::rows::{NewIntent, NewOperation, NewRows, NewSignal, Run};
use crate::engine::commit::work::{WorkRef, check, snapshots};
use crate::engine::snapshot::StoredSnapshot;
use crate::error::StateError;

/// Writes the rows of `works` in order, and answers for each in the same order.
///
/// Must run in an immediate transaction. The answers are true once that transaction is committed.
pub(crate) async fn apply(
    connection: &mut SqliteConnection,
    works: &[WorkRef<'_>],
    now_us: i64,
) -> Result<Vec<Committed>, sqlx::Error> {
    let lookup = Lookup::read(connection, works).await?;
    triplane_kernel::failpoint!("commit.looked_up");
    let (answers, rows) = plan(lookup, works, now_us);
    rows.insert(connection, now_us).await?;
    triplane_kernel::failpoint!("commit.rows_written");
    Ok(answers)
}

/// Decides what is to be written, given what stands in the store.
pub(crate) fn plan<'w>(
    #[cfg_attr(not(triplane_crash), expect(unused_mut))] mut lookup: Lookup,
    works: &[WorkRef<'w>],
    now_us: i64,
) -> (Vec<Committed>, NewRows<'w>) {
    #[cfg(triplane_crash)]
    crate::engine::commit::planted::mislead(&mut lookup, works);
    let mut plan = Plan {
        lookup,
        now_us,
        rows: NewRows::default(),
    };
    let answers = works.iter().map(|work| plan.add(*work)).collect();
    (answers, plan.rows)
}

/// What one transaction will write.
struct Plan<'w> {
    lookup: Lookup,
    now_us: i64,
    rows: NewRows<'w>,
}

impl<'w> Plan<'w> {
    fn add(&mut self, work: WorkRef<'w>) -> Committed {
        let on_record = &self.lookup.on_record;
        let identity = match place(work.fact, |identity| on_record.get(identity)) {
            Place::Taken(found) => return Committed::AlreadyRecorded(found.recorded.clone()),
            Place::Free(identity) => identity,
        };
        let operation = self.add_operation(work.fact, &identity);
        let before = self.lookup.highest;
        for audit in &work.staged.audits {
            self.lookup.highest.audit += 1;
            self.rows
                .audits
                .push((self.lookup.highest.audit, operation, audit));
        }
        let mut signal_ids = HashMap::new();
        let signals = work.staged.signals.iter().map(|signal| {
            let session = self.next_in(&signal.session);
            self.lookup.highest.signal += 1;
            let id = self.lookup.highest.signal;
            if !work.staged.intents.is_empty() {
                signal_ids.insert(signal.id, id);
            }
            self.rows.signals.push(NewSignal {
                id,
                session,
                operation,
                row: signal,
            });
            SignalReceipt {
                id: signal.id,
                session: signal.session.clone(),
                sequence: session.sequence.unsigned_abs(),
            }
        });
        let signals = signals.collect();
        let intents = work.staged.intents.iter().zip(work.snapshots);
        let intents = intents.map(|(intent, snapshot)| {
            let before = intent
                .dedup_key
                .as_ref()
                .and_then(|key| self.lookup.dedup.get(key));
            let (id, enqueued) = before.copied().unwrap_or((intent.id, Enqueued::New));
            if enqueued != Enqueued::New {
                triplane_kernel::failpoint!("commit.dedup_hit");
            }
            if enqueued == Enqueued::New {
                self.lookup.highest.intent += 1;
                let snapshot = self.snapshot(snapshot);
                self.rows.intents.push(NewIntent {
                    id: self.lookup.highest.intent,
                    signal: signal_ids[&intent.signal],
                    snapshot,
                    row: intent,
                });
                if let Some(key) = &intent.dedup_key {
                    let first = (id, Enqueued::Before);
                    self.lookup.dedup.insert(key.clone(), first);
                }
            }
            IntentReceipt {
                id,
                sink: intent.sink.clone(),
                enqueued,
            }
        });
        let intents = intents.collect();
        let after = self.lookup.highest;
        if let Some(row) = self.rows.operations.last_mut() {
            row.audits = Run::between(before.audit, after.audit);
            row.signals = Run::between(before.signal, after.signal);
            row.intents = Run::between(before.intent, after.intent);
        }
        Committed::Recorded(Receipt {
            operation: work.fact.operation,
            identity,
            committed_at_us: self.now_us,
            intents,
            signals,
        })
    }

    fn add_operation(&mut self, fact: &'w PendingFact, identity: &str) -> i64 {
        let session = self.session(&fact.session).id;
        self.lookup.highest.operation += 1;
        let id = self.lookup.highest.operation;
        self.rows.operations.push(NewOperation {
            id,
            session,
            identity: identity.to_owned(),
            fact,
            audits: Run::between(0, 0),
            signals: Run::between(0, 0),
            intents: Run::between(0, 0),
        });
        // A later unit of the same transaction may tell the same fact again.
        let judgement = fact.judgement.as_ref();
        let on_record = OnRecord {
            shape: fact.identity.shape.clone(),
            digest: fact.identity.digest.clone(),
            recorded: Recorded {
                operation: fact.operation,
                identity: identity.to_owned(),
                committed_at_us: self.now_us,
                decision: judgement.map(|it| it.decision.clone()),
                rule: judgement.and_then(|it| it.rule.clone()),
            },
        };
        self.lookup.on_record.insert(identity.to_owned(), on_record);
        id
    }

    /// The session's entry; one that is met for the first time gets a row.
    fn session(&mut self, name: &'w str) -> &mut SessionEnd {
        if !self.lookup.sessions.contains_key(name) {
            self.lookup.highest.session += 1;
            let id = self.lookup.highest.session;
            self.rows.sessions.push((id, name));
            self.lookup
                .sessions
                .insert(name.to_owned(), SessionEnd { id, sequence: 0 });
        }
        self.lookup.sessions.get_mut(name).expect("inserted above")
    }

    /// The key of the snapshot; one that is met for the first time gets a row.
    fn snapshot(&mut self, snapshot: &'w StoredSnapshot) -> i64 {
        if let Some(id) = self.lookup.snapshots.get(&snapshot.digest) {
            return *id;
        }
        self.lookup.highest.snapshot += 1;
        let id = self.lookup.highest.snapshot;
        self.rows.snapshots.push((id, snapshot));
        self.lookup.snapshots.insert(snapshot.digest.clone(), id);
        id
    }

    fn next_in(&mut self, session: &'w str) -> SessionEnd {
        let end = self.session(session);
        end.sequence += 1;
        *end
    }
}

/// Rows that stand in the transaction of their owner, who has yet to commit it.
#[derive(Debug)]
#[must_use]
pub enum Applied {
    /// The rows are written. They are committed when the owner's transaction is.
    Written {
        /// The identity that the fact was written under.
        identity: String,
        /// The signals, in the order in which they were staged.
        signals: Vec<SignalReceipt>,
        /// The intents, in the order in which they were staged.
        intents: Vec<IntentReceipt>,
    },
    /// The fact was on record already; nothing was written.
    AlreadyRecorded(Recorded),
}

impl Staged {
    /// Writes `fact` and the staged rows into the open transaction of an owner who brings its own.
    ///
    /// The transaction must have been begun through sqlx and with `BEGIN IMMEDIATE`
    /// ([`Connection::begin_with`](sqlx::Connection::begin_with)): a deferred one fails when
    /// another process writes first. The connection must be to a triplane store with foreign keys
    /// on. Whether `synchronous` suits is the owner's affair. Times are read from the system clock.
    ///
    /// # Errors
    ///
    /// [`StateError::NoTransaction`] without an open transaction, [`StateError::SignalNotStaged`],
    /// [`StateError::IntentRefused`] and [`StateError::TooManyRows`] for rows that cannot be written, [`StateError::OwnerDatabase`] when the database fails. The
    /// owner must then roll back.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves the owner's transaction with all, some or none of the rows: the
    /// owner must then roll back, which dropping its transaction does.
    pub async fn apply_to(
        &self,
        fact: &PendingFact,
        connection: &mut SqliteConnection,
    ) -> Result<Applied, StateError> {
        if !connection.is_in_transaction() {
            return Err(StateError::NoTransaction);
        }
        check(self, usize::MAX)?;
        let snapshots = snapshots(self);
        let work = [WorkRef {
            fact,
            staged: self,
            snapshots: &snapshots,
        }];
        let answer = apply(connection, &work, SystemClock::new().now_us())
            .await
            .map_err(|error| StateError::OwnerDatabase {
                source: Arc::new(error),
            })?
            .pop();
        Ok(match answer {
            Some(Committed::Recorded(receipt)) => Applied::Written {
                identity: receipt.identity,
                signals: receipt.signals,
                intents: receipt.intents,
            },
            Some(Committed::AlreadyRecorded(recorded)) => Applied::AlreadyRecorded(recorded),
            None => unreachable!("one unit has one answer"),
        })
    }
}
