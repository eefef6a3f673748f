//! The rows that one transaction adds, and the statements that add them: one per table.

use sqlx::{QueryBuilder, Sqlite, SqliteConnection};

use crate::commit::{AuditRow, Confirmation, IntentRow, PendingFact, SignalRow};
use crate::engine::commit::lookup::SessionEnd;
use crate::engine::snapshot::{SNAPSHOT_VERSION, StoredSnapshot};

/// The rows that one transaction adds. Their integer keys are given already, so no statement has to
/// wait for the answer of another.
#[derive(Debug, Default)]
pub(crate) struct NewRows<'w> {
    /// Key and name.
    pub(crate) sessions: Vec<(i64, &'w str)>,
    pub(crate) operations: Vec<NewOperation<'w>>,
    /// Key, operation and row.
    pub(crate) audits: Vec<(i64, i64, &'w AuditRow)>,
    pub(crate) signals: Vec<NewSignal<'w>>,
    pub(crate) intents: Vec<NewIntent<'w>>,
    /// Key and snapshot.
    pub(crate) snapshots: Vec<(i64, &'w StoredSnapshot)>,
}

#[derive(Debug)]
pub(crate) struct NewOperation<'w> {
    pub(crate) id: i64,
    pub(crate) session: i64,
    pub(crate) identity: String,
    pub(crate) fact: &'w PendingFact,
    pub(crate) audits: Run,
    pub(crate) signals: Run,
    pub(crate) intents: Run,
}

/// Where rows stand that are written one after the other.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    /// The first one's key, if there is one.
    pub(crate) first: Option<i64>,
    pub(crate) rows: i64,
}

impl Run {
    /// The keys above `before`, up to `last`.
    pub(crate) fn between(before: i64, last: i64) -> Self {
        Self {
            first: (last > before).then_some(before + 1),
            rows: last - before,
        }
    }
}

#[derive(Debug)]
pub(crate) struct NewSignal<'w> {
    pub(crate) id: i64,
    /// The session, and the sequence that the signal has there.
    pub(crate) session: SessionEnd,
    pub(crate) operation: i64,
    pub(crate) row: &'w SignalRow,
}

#[derive(Debug)]
pub(crate) struct NewIntent<'w> {
    pub(crate) id: i64,
    pub(crate) signal: i64,
    pub(crate) snapshot: i64,
    pub(crate) row: &'w IntentRow,
}

impl NewRows<'_> {
    /// Writes all rows in one round.
    pub(crate) async fn insert(
        &self,
        connection: &mut SqliteConnection,
        now_us: i64,
    ) -> Result<(), sqlx::Error> {
        // Whatever is written belongs to an operation.
        if self.operations.is_empty() {
            return Ok(());
        }
        let mut query = QueryBuilder::new("");
        self.push_sessions(&mut query, now_us);
        self.push_operations(&mut query, now_us);
        if triplane_kernel::planted!("audit_in_second_transaction") {
            query.push("COMMIT; BEGIN IMMEDIATE;");
        }
        self.push_audits(&mut query);
        self.push_signals(&mut query);
        if triplane_kernel::planted!("intent_outside_transaction") {
            query.push("COMMIT; BEGIN IMMEDIATE;");
        }
        self.push_snapshots(&mut query);
        self.push_intents(&mut query, now_us);
        query.build().execute(connection).await?;
        Ok(())
    }

    fn push_sessions(&self, query: &mut QueryBuilder<Sqlite>, now_us: i64) {
        if self.sessions.is_empty() {
            return;
        }
        query.push("INSERT INTO session (id, name, first_at_us) ");
        query.push_values(&self.sessions, |mut row, (id, name)| {
            row.push_bind(*id).push_bind(*name).push_bind(now_us);
        });
        query.push(";");
    }

    fn push_operations(&self, query: &mut QueryBuilder<Sqlite>, now_us: i64) {
        query.push(
            "INSERT INTO operation (id, public_id, session_id, identity, shape, digest, event, \
             subject, outcome, occurred_at_us, committed_at_us, first_audit, audits, first_signal, \
             signals, first_intent, intents) ",
        );
        query.push_values(&self.operations, |mut row, operation| {
            let fact = operation.fact;
            row.push_bind(operation.id)
                .push_bind(fact.operation.to_string())
                .push_bind(operation.session)
                .push_bind(operation.identity.as_str())
                .push_bind(fact.identity.shape.as_str())
                .push_bind(fact.identity.digest.as_str())
                .push_bind(fact.event.as_str())
                .push_bind(fact.subject.as_deref())
                .push_bind(fact.outcome.as_str())
                .push_bind(fact.occurred_at_us)
                .push_bind(now_us);
            for run in [operation.audits, operation.signals, operation.intents] {
                row.push_bind(run.first).push_bind(run.rows);
            }
        });
        query.push(";");
    }

    fn push_audits(&self, query: &mut QueryBuilder<Sqlite>) {
        if self.audits.is_empty() {
            return;
        }
        query.push(
            "INSERT INTO audit (id, public_id, operation_id, outcome, emitter, decision, \
             enforcement, rule, reason, notes, arguments_before, arguments_after) ",
        );
        query.push_values(&self.audits, |mut row, (id, operation, audit)| {
            let judgement = audit.judgement.as_ref();
            let rewrite = judgement.and_then(|it| it.rewrite.as_ref());
            row.push_bind(*id)
                .push_bind(audit.id.to_string())
                .push_bind(*operation)
                .push_bind(audit.outcome.as_str())
                .push_bind(audit.emitter.as_str())
                .push_bind(judgement.map(|it| it.decision.as_str()))
                .push_bind(judgement.map(|it| it.enforcement.as_str()))
                .push_bind(judgement.and_then(|it| it.rule.as_deref()))
                .push_bind(judgement.and_then(|it| it.reason.as_deref()))
                .push_bind(judgement.and_then(|it| it.notes.as_deref()))
                .push_bind(rewrite.map(|it| it.before.get()))
                .push_bind(rewrite.map(|it| it.after.get()));
        });
        query.push(";");
    }

    fn push_signals(&self, query: &mut QueryBuilder<Sqlite>) {
        if self.signals.is_empty() {
            return;
        }
        query.push(
            "INSERT INTO signal_log (id, public_id, session_id, sequence, operation_id, kind, \
             emitter, invocation, occurred_at_us, payload_type, payload_version, payload) ",
        );
        query.push_values(&self.signals, |mut row, signal| {
            let NewSignal {
                id,
                session,
                operation,
                row: signal,
            } = signal;
            row.push_bind(*id)
                .push_bind(signal.id.to_string())
                .push_bind(session.id)
                .push_bind(session.sequence)
                .push_bind(*operation)
                .push_bind(signal.kind.as_str())
                .push_bind(signal.emitter.as_str())
                .push_bind(signal.invocation.map(|id| id.to_string()))
                .push_bind(signal.occurred_at_us)
                .push_bind(signal.payload.payload_type.as_str())
                .push_bind(signal.payload.version)
                .push_bind(signal.payload.body.get());
        });
        query.push(";");
    }

    fn push_snapshots(&self, query: &mut QueryBuilder<Sqlite>) {
        if self.snapshots.is_empty() {
            return;
        }
        query.push("INSERT INTO delivery_snapshot (id, digest, version, body) ");
        query.push_values(&self.snapshots, |mut row, (id, snapshot)| {
            row.push_bind(*id)
                .push_bind(snapshot.digest.as_str())
                .push_bind(SNAPSHOT_VERSION)
                .push_bind(snapshot.body.as_str());
        });
        query.push(";");
    }

    fn push_intents(&self, query: &mut QueryBuilder<Sqlite>, now_us: i64) {
        if self.intents.is_empty() {
            return;
        }
        query.push(
            "INSERT INTO outbox (id, public_id, signal_id, sink, dedup_key, status, attempt, \
             next_attempt_at_us, expires_at_us, created_at_us, updated_at_us, snapshot_id, \
             ack_required) ",
        );
        query.push_values(&self.intents, |mut row, intent| {
            row.push_bind(intent.id)
                .push_bind(intent.row.id.to_string())
                .push_bind(intent.signal)
                .push_bind(intent.row.sink.as_str())
                .push_bind(intent.row.dedup_key.as_deref())
                .push("'pending'")
                .push("0")
                .push_bind(now_us)
                .push_bind(intent.row.expires_at_us)
                .push_bind(now_us)
                .push_bind(now_us)
                .push_bind(intent.snapshot)
                .push(match intent.row.confirmation {
                    Confirmation::BySink => "0",
                    Confirmation::ByConsumer => "1",
                });
        });
        query.push(
            ";INSERT INTO outbox_transition \
             (outbox_id, ordinal, from_status, to_status, attempt, reason, at_us) ",
        );
        query.push_values(&self.intents, |mut row, intent| {
            row.push_bind(intent.id)
                .push("1")
                .push("NULL")
                .push("'pending'")
                .push("0")
                .push("'dispatch.pending.enqueued'")
                .push_bind(now_us);
        });
        query.push(";");
    }
}
