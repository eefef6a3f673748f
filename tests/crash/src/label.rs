//! The labels of all failpoints, in the order of one operation. A test holds them against the code.

/// Every place at which a child can end.
pub const LABELS: &[&str] = &[
    // The store is made.
    "create.drafted",
    "create.before_rename",
    "create.renamed",
    // The schema is brought up to date; every step is a visit.
    "migrate.begun",
    "migrate.step",
    "migrate.before_commit",
    "migrate.committed",
    // Owners' tables.
    "migrate.owner_step",
    "migrate.owner_committed",
    // An outcome is committed.
    "unit.staged",
    "unit.submitted",
    "tx.before_begin",
    "tx.begun",
    "commit.looked_up",
    "commit.dedup_hit",
    "commit.rows_written",
    "tx.before_commit",
    "tx.committed",
    "commit.committed",
    "commit.before_receipt",
    "commit.receipt_given",
    // The same when its owner writes rows of its own.
    "held.owner_written",
    "held.staged",
    "held.committed",
    // And when the owner brings its own transaction.
    "along.owner_written",
    "along.applied",
    "along.committed",
    // The shorter way to the disk, of a process that keeps its store open.
    "direct.begun",
    "direct.looked_up",
    "direct.signals_written",
    "direct.rows_written",
    "direct.settled",
    "direct.claimed",
    "direct.before_commit",
    "direct.committed",
    // The owner has its receipt and tells of it.
    "owner.receipt_held",
    "owner.emitted",
    // Delivery.
    "lease.before_void",
    "lease.voided",
    "claim.before_change",
    "claim.changed",
    "claim.tokens_issued",
    "turn.committed",
    "send.before",
    "spawn.before",
    "spawn.after",
    "spawn.exited",
    "spawn.reaped",
    "send.answered",
    "settle.retry_decided",
    "settle.before",
    "settle.changed",
    "settle.after",
    // Consumers and operators.
    "ack.before_change",
    "ack.changed",
    "retry.changed",
    "purge.before",
    "purge.written",
    // A copy, and the end.
    "backup.copied",
    "backup.checked",
    "backup.placed",
    "close.before_checkpoint",
    "close.checkpointed",
];
