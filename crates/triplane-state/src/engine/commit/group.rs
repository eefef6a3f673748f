//! Units that share one transaction.

use std::sync::Arc;

use crate::engine::commit::telling::Asker;
use crate::engine::commit::work::{ROWS_MAX, Work};

/// How many units share one transaction at most.
pub(crate) const GROUP_MAX: usize = 64;

/// Units that share a transaction.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) works: Arc<[Work]>,
    /// In the order of the units; nobody once they were told.
    pub(crate) askers: Vec<Asker>,
}

/// Puts `units` into groups that one statement per table can hold.
pub(crate) fn groups(units: impl Iterator<Item = (Work, Asker)>) -> Vec<Group> {
    let mut groups = Vec::new();
    let (mut works, mut askers, mut rows) = (Vec::new(), Vec::new(), 0);
    let mut close = |works: &mut Vec<Work>, askers: &mut Vec<Asker>| {
        if !works.is_empty() {
            groups.push(Group {
                works: std::mem::take(works).into(),
                askers: std::mem::take(askers),
            });
        }
    };
    for (work, asker) in units {
        let more = work.rows();
        if rows + more > ROWS_MAX {
            close(&mut works, &mut askers);
            rows = 0;
        }
        rows += more;
        works.push(work);
        askers.push(asker);
    }
    close(&mut works, &mut askers);
    groups
}
