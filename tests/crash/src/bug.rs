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
    /// The roads to the disk on which it is planted, each with a budget of its own.
    pub roads: &'static [Road],
}

/// How a child goes to the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Road {
    /// One statement after the other, as a process does that soon closes its store again.
    Ordinary,
    /// Where the connection is, as a process does that keeps its store open.
    Direct,
}

impl Road {
    /// As it is ordered.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Ordinary => "ordinary",
            Self::Direct => "direct",
        }
    }

    /// Whether it passes `label`.
    pub fn has(self, label: &str) -> bool {
        let ordinary = ["tx.", "commit.looked_up", "commit.rows_written"];
        match self {
            Self::Ordinary => !label.starts_with("direct."),
            Self::Direct => !ordinary.iter().any(|start| label.starts_with(start)),
        }
    }
}

/// For what is written once for both.
const EITHER: &[Road] = &[Road::Ordinary];
/// For what is written twice.
const EACH: &[Road] = &[Road::Ordinary, Road::Direct];

/// How many kills a bug may stay unseen.
pub const BUDGET: u64 = 40;

const fn bug(
    name: &'static str,
    says: &'static str,
    labels: &'static [&'static str],
    roads: &'static [Road],
) -> Bug {
    Bug {
        name,
        says,
        labels,
        roads,
    }
}

/// Every bug that can be planted.
pub const BUGS: &[Bug] = &[
    bug(
        "finish_not_fenced",
        "a finish is not fenced by its attempt",
        &[],
        EACH,
    ),
    bug(
        "intent_outside_transaction",
        "the intent is written in a second transaction",
        &[
            "commit.rows_written",
            "tx.before_commit",
            "direct.rows_written",
            "direct.before_commit",
        ],
        EACH,
    ),
    bug(
        "audit_in_second_transaction",
        "the audit row is written in a second transaction",
        &[
            "commit.rows_written",
            "tx.before_commit",
            "direct.rows_written",
            "direct.before_commit",
        ],
        EACH,
    ),
    bug(
        "receipt_before_commit",
        "the receipt is given before the commit",
        &[
            "commit.looked_up",
            "commit.rows_written",
            "tx.before_commit",
            "direct.looked_up",
            "direct.rows_written",
            "direct.before_commit",
        ],
        EACH,
    ),
    bug(
        "normal_sold_as_power",
        "NORMAL is sold as class power",
        &[],
        EITHER,
    ),
    bug(
        "lease_on_wall_clock",
        "a lease is measured with a clock that jumps",
        &[],
        EITHER,
    ),
    bug(
        "dedup_hit_before_commit",
        "a dedup hit is answered before its winner has committed",
        &[],
        EACH,
    ),
    bug(
        "sequence_outside_lock",
        "the sequence is max + 1, read outside of the lock",
        &[],
        EACH,
    ),
    bug("claim_without_lease", "a claim takes no lease", &[], EACH),
    bug(
        "retry_without_new_attempt",
        "a retry does not count as an attempt",
        &[],
        EACH,
    ),
    bug(
        "purge_without_audit",
        "a purge leaves no trace",
        &[],
        EITHER,
    ),
    bug(
        "version_outside_migration",
        "the version is raised after the migration's transaction",
        &["migrate.committed"],
        EITHER,
    ),
    bug(
        "lost_when_spawn_fails",
        "a command that cannot start counts as delivered",
        &[],
        EITHER,
    ),
    bug(
        "change_without_history",
        "a change of status writes no history",
        &[],
        EACH,
    ),
    bug(
        "lease_taken_from_the_living",
        "a living holder's lease is taken for a dead one's",
        &[],
        EITHER,
    ),
];
