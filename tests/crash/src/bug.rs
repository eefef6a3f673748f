//! The bugs that are planted to see that the campaign finds them.

/// A bug and how many kills the campaign is given to find it.
#[derive(Debug, Clone, Copy)]
pub struct Bug {
    /// Its name in the code.
    pub name: &'static str,
    /// What it does.
    pub says: &'static str,
    /// The labels at which it shows, when it shows only there: the budget is spent on them.
    pub labels: &'static [&'static str],
}

/// How many kills a bug may stay unseen.
pub const BUDGET: u64 = 40;

const fn bug(name: &'static str, says: &'static str, labels: &'static [&'static str]) -> Bug {
    Bug { name, says, labels }
}

/// Every bug that can be planted.
pub const BUGS: &[Bug] = &[
    bug(
        "finish_not_fenced",
        "a finish is not fenced by its attempt",
        &[],
    ),
    bug(
        "intent_outside_transaction",
        "the intent is written in a second transaction",
        &["commit.rows_written", "tx.before_commit"],
    ),
    bug(
        "audit_in_second_transaction",
        "the audit row is written in a second transaction",
        &["commit.rows_written", "tx.before_commit"],
    ),
    bug(
        "receipt_before_commit",
        "the receipt is given before the commit",
        &[
            "commit.looked_up",
            "commit.rows_written",
            "tx.before_commit",
        ],
    ),
    bug("normal_sold_as_power", "NORMAL is sold as class power", &[]),
    bug(
        "lease_on_wall_clock",
        "a lease is measured with a clock that jumps",
        &[],
    ),
    bug(
        "dedup_hit_before_commit",
        "a dedup hit is answered before its winner has committed",
        &[],
    ),
    bug(
        "sequence_outside_lock",
        "the sequence is max + 1, read outside of the lock",
        &[],
    ),
    bug("claim_without_lease", "a claim takes no lease", &[]),
    bug(
        "retry_without_new_attempt",
        "a retry does not count as an attempt",
        &[],
    ),
    bug("purge_without_audit", "a purge leaves no trace", &[]),
    bug(
        "version_outside_migration",
        "the version is raised after the migration's transaction",
        &["migrate.committed"],
    ),
    bug(
        "lost_when_spawn_fails",
        "a command that cannot start counts as delivered",
        &[],
    ),
    bug(
        "change_without_history",
        "a change of status writes no history",
        &[],
    ),
    bug(
        "lease_taken_from_the_living",
        "a living holder's lease is taken for a dead one's",
        &[],
    ),
];
