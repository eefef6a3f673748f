//! Everything together.

use std::fmt::Display;
use std::path::Path;

use crate::finding::{Invariant, Verdict};
use crate::journal::{Entry, read};
use crate::rows::Rows;
use crate::{deliveries, facts, lifecycle};

/// When the store is looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// Right after a process died in the middle of its work: nobody has opened the store since.
    AfterKill,
    /// When the product has opened it again and worked until nothing was left to do.
    Recovered,
    /// As recovered, and nobody died: a lease of one worker ended by time before another claimed.
    Shared,
}

/// Judges the store `state.db` in `store` by `journal.jsonl` and `received.jsonl` in `folder`.
/// `lease_us` is the shortest lease.
///
/// # Errors
///
/// A journal that cannot be read. What is wrong with the store is a finding.
pub async fn judge(
    folder: &Path,
    store: &Path,
    extent: Extent,
    lease_us: i64,
) -> std::io::Result<Verdict> {
    let journal: Vec<Entry> = read(&folder.join("journal.jsonl"))?;
    let received = read(&folder.join("received.jsonl"))?;
    let mut verdict = Verdict::default();
    let store = store.join("state.db");
    if !store.exists() {
        let acked = journal.iter().any(|it| matches!(it, Entry::Acked { .. }));
        if acked || extent != Extent::AfterKill {
            verdict.find(Invariant::I1Lost, "there is no store".to_owned());
        }
        return Ok(verdict);
    }
    let judged = async {
        let mut rows = Rows::open(&store).await?;
        // A store of an older program has nothing to be judged by until it is upgraded.
        facts::judge(&mut rows, &journal, &mut verdict).await?;
        let at_the_end = extent != Extent::AfterKill;
        lifecycle::judge(&mut rows, &journal, at_the_end, &mut verdict).await?;
        if extent == Extent::Shared {
            lifecycle::leases(&mut rows, lease_us, &mut verdict).await?;
        }
        deliveries::judge(&mut rows, &journal, &received, lease_us, &mut verdict).await?;
        file(&mut rows, &journal, &mut verdict).await
    };
    if let Err(error) = judged.await {
        verdict.find(Invariant::I10File, format!("cannot be read: {error}"));
    }
    Ok(verdict)
}

/// I10.
async fn file(
    rows: &mut Rows,
    journal: &[Entry],
    verdict: &mut Verdict,
) -> Result<(), sqlx::Error> {
    let mut wrong = |says: &dyn Display| verdict.find(Invariant::I10File, says.to_string());
    for says in rows.texts("PRAGMA integrity_check").await? {
        if says != "ok" {
            wrong(&says);
        }
    }
    for says in rows
        .texts("SELECT \"table\" FROM pragma_foreign_key_check")
        .await?
    {
        wrong(&format_args!("a row of {says} refers to nothing"));
    }
    for entry in journal {
        match entry {
            Entry::Synchronous { level } if *level != 2 => {
                wrong(&format_args!("class power runs with synchronous = {level}"));
            }
            Entry::BackedUp { path, signals } => {
                let found = backup(Path::new(path)).await?;
                if found != *signals {
                    wrong(&format_args!(
                        "backup {path} holds {found} signals, not {signals}"
                    ));
                }
            }
            _ => {}
        }
    }
    Ok(())
}

async fn backup(path: &Path) -> Result<u64, sqlx::Error> {
    let mut rows = Rows::open(path).await?;
    Ok(rows.all("SELECT 1 FROM signal_log").await?.len() as u64)
}
