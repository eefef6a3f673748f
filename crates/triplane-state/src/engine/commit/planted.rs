//! Bugs of the commit that the crash campaign plants, to see that it finds them. Compiled for nothing
//! else.

use std::collections::HashMap;
use std::sync::{LazyLock, Mutex};

use triplane_kernel::planted;
use uuid::Uuid;

use crate::commit::Staged;
use crate::engine::commit::lookup::Lookup;
use crate::engine::commit::receipt::Enqueued;
use crate::engine::commit::work::{Work, WorkRef};
use crate::engine::store::Connections;

/// Where sessions ended when somebody looked without the lock.
static ENDS: LazyLock<Mutex<HashMap<String, i64>>> = LazyLock::new(Mutex::default);
/// Which intent took a dedup key first, committed or not.
static FIRST: LazyLock<Mutex<HashMap<String, Uuid>>> = LazyLock::new(Mutex::default);

/// Reads the end of each session before the transaction begins.
pub(crate) async fn read_ends(connections: &Connections, works: &[Work]) {
    if !planted!("sequence_outside_lock") {
        return;
    }
    let Ok(mut reader) = connections.readers.lend().await else {
        return;
    };
    for work in works {
        let name = &work.fact.session;
        let end = sqlx::query_scalar(
            "SELECT coalesce(max(sequence), 0) FROM signal_log JOIN session \
             ON session.id = session_id WHERE session.name = ?1",
        )
        .bind(name)
        .fetch_one(&mut *reader)
        .await;
        if let (Ok(end), Ok(mut ends)) = (end, ENDS.lock()) {
            ends.insert(name.clone(), end);
        }
    }
}

/// Remembers dedup keys as soon as they are staged.
pub(crate) fn remember(staged: &Staged) {
    if !planted!("dedup_hit_before_commit") {
        return;
    }
    if let Ok(mut first) = FIRST.lock() {
        for intent in &staged.intents {
            if let Some(key) = &intent.dedup_key {
                first.entry(key.clone()).or_insert(intent.id);
            }
        }
    }
}

/// Puts in what was read or remembered outside of the lock.
pub(crate) fn mislead(lookup: &mut Lookup, works: &[WorkRef<'_>]) {
    if planted!("sequence_outside_lock")
        && let Ok(ends) = ENDS.lock()
    {
        for (name, end) in &mut lookup.sessions {
            end.sequence = ends.get(name).copied().unwrap_or(end.sequence);
        }
    }
    if planted!("dedup_hit_before_commit")
        && let Ok(first) = FIRST.lock()
    {
        for intent in works.iter().flat_map(|work| &work.staged.intents) {
            let Some(key) = &intent.dedup_key else {
                continue;
            };
            if let Some(id) = first.get(key).filter(|id| **id != intent.id) {
                let hit = (*id, Enqueued::Before);
                lookup.dedup.entry(key.clone()).or_insert(hit);
            }
        }
    }
}
