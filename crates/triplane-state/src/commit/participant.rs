//! What goes into the owner's transaction beside its outcome.

use serde_json::value::RawValue;
use triplane_signals::{EmitterRole, Payload, SignalKind};
use uuid::Uuid;

/// Stages evidence and intents inside the transaction of the operation's owner (ADR-0120 D5).
///
/// A participant is synchronous and fills a buffer of typed rows: it cannot reach the network, it
/// sees no SQL, and dropping the unit of work undoes it. Its error aborts the commit before it
/// happens and reaches the owner as a commit failure.
pub trait CommitParticipant: Send + Sync {
    /// The participant's name, for errors and traces.
    fn name(&self) -> &str;

    /// Adds this participant's rows for `fact`.
    ///
    /// # Errors
    ///
    /// [`StageError`] when the rows that must go along cannot be made; nothing is committed then.
    fn stage(&self, fact: &PendingFact, staged: &mut Staged) -> Result<CommitRefs, StageError>;
}

/// A participant could not make the rows that must go along.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{participant} cannot stage its rows: {reason}")]
pub struct StageError {
    /// The name of the participant.
    pub participant: String,
    /// Why not.
    pub reason: String,
}

/// What a participant staged, so that its owner can name it before the commit.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CommitRefs {
    /// The public ids of the staged rows.
    pub ids: Vec<Uuid>,
}

/// An outcome that its owner is about to commit.
#[derive(Debug, Clone)]
pub struct PendingFact {
    /// The operation, UUID v7.
    pub operation: Uuid,
    /// What makes the fact the same fact when it is told again.
    pub identity: FactIdentity,
    /// What is compared when the fact is told again.
    pub repeat: Repeat,
    /// The session that it belongs to.
    pub session: String,
    /// The name of what happened, for example `PreToolUse`.
    pub event: String,
    /// What it happened to, for example the tool's name.
    pub subject: Option<String>,
    /// The outcome's wire string, for example `denied`.
    pub outcome: String,
    /// When it occurred, in microseconds since 1970 UTC.
    pub occurred_at_us: i64,
    /// The judgement, if the operation was judged.
    pub judgement: Option<Judgement>,
    /// The kind of the signal that tells of it.
    pub kind: SignalKind,
    /// Who states it.
    pub emitter: EmitterRole,
    /// What exactly happened.
    pub payload: Payload,
}

/// What makes a fact the same fact when it is told again.
///
/// The `key` is unique in a store. A fact whose key is there already is not written again, unless
/// its content is another: then it is written under the key plus `#` and the digest of its
/// content, so that two different facts under one id are both on record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactIdentity {
    /// The natural key, for example session, event name and tool-use id.
    pub key: String,
    /// What the content is a digest of; contents of different shapes are not compared.
    pub shape: String,
    /// The digest of the content, lower-case hexadecimal.
    pub digest: String,
}

/// When a fact that is told again is the one on record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// When its content is the same: a file that is replayed tells nothing new, whatever the
    /// guards think of it today.
    SameContent,
    /// When its content is the same and it was judged the same (decision and rule): somebody waited
    /// for this answer, so another answer is another fact. It is written under the key plus `#` and
    /// a digest of content and judgement.
    SameContentAndJudgement,
}

/// How an operation was judged: the evidence that its audit row keeps.
#[derive(Debug, Clone)]
pub struct Judgement {
    /// The decision's wire string: `allowed`, `denied` or `rewritten`.
    pub decision: String,
    /// Whether anybody was bound by it: `enforced`, `advisory` or `after_the_fact`.
    pub enforcement: String,
    /// The rule that spoke.
    pub rule: Option<String>,
    /// Its reason.
    pub reason: Option<String>,
    /// What else was noticed, one JSON array of objects.
    pub notes: Option<String>,
    /// The arguments before and after, when the decision changed them.
    pub rewrite: Option<Rewrite>,
}

/// What a decision changed. Arguments that stay as they are stand in the payload only.
#[derive(Debug, Clone)]
pub struct Rewrite {
    /// The arguments as they were proposed, one JSON value.
    pub before: Box<RawValue>,
    /// The arguments that the call is to be made with, one JSON value.
    pub after: Box<RawValue>,
}

/// The rows that will be committed with the outcome, or not at all.
#[derive(Debug, Default)]
pub struct Staged {
    pub(crate) audits: Vec<AuditRow>,
    pub(crate) signals: Vec<SignalRow>,
    pub(crate) intents: Vec<IntentRow>,
}

impl Staged {
    /// An empty buffer.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a row of audit evidence.
    pub fn audit(&mut self, row: AuditRow) {
        self.audits.push(row);
    }

    /// Adds a row to the signal log. The commit gives it the session's next sequence.
    pub fn signal(&mut self, row: SignalRow) {
        self.signals.push(row);
    }

    /// Adds the intent to deliver a signal that is staged in the same buffer.
    pub fn intent(&mut self, row: IntentRow) {
        self.intents.push(row);
    }

    /// Whether nothing was staged.
    pub fn is_empty(&self) -> bool {
        self.audits.is_empty() && self.signals.is_empty() && self.intents.is_empty()
    }
}

/// One row of audit evidence.
#[derive(Debug, Clone)]
pub struct AuditRow {
    /// The public id, UUID v7.
    pub id: Uuid,
    /// The outcome's wire string.
    pub outcome: String,
    /// Who states it.
    pub emitter: EmitterRole,
    /// The judgement, if there was one.
    pub judgement: Option<Judgement>,
}

/// One row of the signal log.
#[derive(Debug, Clone)]
pub struct SignalRow {
    /// The signal's id, UUID v7.
    pub id: Uuid,
    /// The session whose log it is appended to.
    pub session: String,
    /// What happened.
    pub kind: SignalKind,
    /// Who states it.
    pub emitter: EmitterRole,
    /// The invocation that the fact belongs to.
    pub invocation: Option<Uuid>,
    /// When it occurred, in microseconds since 1970 UTC.
    pub occurred_at_us: i64,
    /// What exactly happened.
    pub payload: Payload,
}

/// One row of the outbox: the intent to deliver a signal to a sink.
///
/// Sink, destination and filter are frozen with the commit, as a versioned snapshot with its digest.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct IntentRow {
    /// The public id, UUID v7.
    pub id: Uuid,
    /// The signal to deliver; staged in the same buffer.
    pub signal: Uuid,
    /// The name of the sink.
    pub sink: String,
    /// Where the sink is to convey it, if one sink has several destinations.
    pub deliver_to: Option<String>,
    /// What selected the signal, one JSON value in the form of whoever selects.
    pub filter: Option<Box<RawValue>>,
    /// A second key under which the intent may stand only once in the store: the first committed
    /// intent keeps it, also after it was purged, and a later one with the same key is not written.
    pub dedup_key: Option<String>,
    /// When the intent is no longer worth an attempt, in microseconds since 1970 UTC.
    pub expires_at_us: Option<i64>,
    /// When the intent is done.
    pub confirmation: Confirmation,
}

/// When an intent is done (ADR-0059 D5).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Confirmation {
    /// When the sink has taken it.
    #[default]
    BySink,
    /// When its consumer has acknowledged it with a token that was sent along. Until then it is sent
    /// again and again, within the bound of the retry policy.
    ByConsumer,
}

impl IntentRow {
    /// The intent `id` to deliver `signal` to `sink`: no destination of its own, no dedup key, no
    /// expiry, done when the sink has taken it.
    pub fn new(id: Uuid, signal: Uuid, sink: impl Into<String>) -> Self {
        Self {
            id,
            signal,
            sink: sink.into(),
            deliver_to: None,
            filter: None,
            dedup_key: None,
            expires_at_us: None,
            confirmation: Confirmation::default(),
        }
    }
}
