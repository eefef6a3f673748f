//! What everything in a child works with: the store, its clock, the journals.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use triplane_crash::bug::Road;
use triplane_crash::order;
use triplane_referee::journal::{Entry, Journal};
use triplane_state::clock::ManualClock;
use triplane_state::{Lifetime, OwnerMigrations, StateError, Store, StoreOptions};

/// The store, its clock and the producer's journal.
pub(crate) struct Desk {
    pub(crate) folder: PathBuf,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) store: Store,
    pub(crate) journal: Journal,
    pub(crate) seed: u64,
}

pub(crate) fn variable(name: &str) -> anyhow::Result<String> {
    std::env::var(name).with_context(|| format!("{name} is not set"))
}

pub(crate) fn number(name: &str) -> anyhow::Result<i64> {
    let text = variable(name)?;
    text.parse().with_context(|| format!("{name} is {text:?}"))
}

/// A key that no other start of a child uses.
pub(crate) fn key(name: &str) -> anyhow::Result<String> {
    let start = number(order::CLOCK)? / 1_000_000;
    Ok(format!("{name}-{start}"))
}

/// The clock of this child: it starts where it was ordered to.
pub(crate) fn clock() -> anyhow::Result<Arc<ManualClock>> {
    let start_us = number(order::CLOCK)?;
    let clock = ManualClock::at(0);
    clock.advance(std::time::Duration::from_micros(start_us.unsigned_abs()));
    Ok(Arc::new(clock))
}

/// The folder of the store.
pub(crate) fn store_folder(folder: &Path) -> PathBuf {
    std::env::var_os(order::STORE).map_or_else(|| folder.to_owned(), PathBuf::from)
}

/// The tables of the owner of the facts.
fn owner() -> Result<OwnerMigrations, StateError> {
    Ok(OwnerMigrations::new("job")?
        .step("CREATE TABLE job_done (identity TEXT PRIMARY KEY) STRICT")
        .step("ALTER TABLE job_done ADD COLUMN note TEXT"))
}

/// Every second child keeps its store open for long, and so takes the shorter way to the disk, unless
/// it is ordered to take one.
fn options(folder: &Path, clock: &Arc<ManualClock>, seed: u64) -> Result<StoreOptions, StateError> {
    let ordered = std::env::var(order::ROAD).ok();
    let ordinary = ordered.map_or(seed % 2 == 1, |road| road == Road::Ordinary.as_str());
    let lifetime = if ordinary {
        Lifetime::Short
    } else {
        Lifetime::Long
    };
    Ok(StoreOptions::new(store_folder(folder).join("state.db"))
        .clock(clock.clone())
        .lifetime(lifetime)
        .owner(owner()?))
}

impl Desk {
    pub(crate) async fn open() -> anyhow::Result<Self> {
        let folder = PathBuf::from(variable(order::FOLDER)?);
        let journal = Journal::open(&folder.join("journal.jsonl"))?;
        let clock = clock()?;
        let seed = number(order::SEED)?.unsigned_abs();
        let opened = Store::open(options(&folder, &clock, seed)?).await;
        if let Err(error) = &opened {
            journal.write(&[refused("opening the store", error)])?;
        }
        Ok(Self {
            store: opened?,
            folder,
            clock,
            journal,
            seed,
        })
    }

    /// A second handle on the same store, as another process would have it.
    pub(crate) async fn second(&self) -> anyhow::Result<Store> {
        Ok(Store::open(options(&self.folder, &self.clock, self.seed)?).await?)
    }

    /// Notes what the store refused although nothing stood against it.
    pub(crate) fn heed<T, E: std::error::Error>(
        &self,
        what: &str,
        result: Result<T, E>,
    ) -> anyhow::Result<Option<T>> {
        match result {
            Ok(value) => Ok(Some(value)),
            Err(error) => {
                self.journal.write(&[refused(what, &error)])?;
                Ok(None)
            }
        }
    }
}

pub(crate) fn refused(what: &str, error: &dyn std::error::Error) -> Entry {
    let mut says = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        says.push_str(": ");
        says.push_str(&error.to_string());
        source = error.source();
    }
    Entry::Refused {
        what: what.to_owned(),
        error: says,
    }
}
