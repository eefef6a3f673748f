//! The registrations of a dispatcher, found by the keys of a signal.
//!
//! One list per key, so that an emission reads only what can match. A list is built when it is next
//! read after a change: registering into a list of a million costs a tree insertion and no copy,
//! and the reader who pays for the copy was going to ask the whole list anyway.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::num::NonZeroU64;
use std::sync::{Arc, OnceLock};

use foldhash::{HashMap, HashMapExt as _};

use crate::cancel::Cooperation;
use crate::dispatch::key::{Key, Keyed};
use crate::dispatch::registration::{Registration, RegistrationId};
use crate::name::RegistrationName;
use crate::policy::Declared;

/// A registration as the dispatcher keeps it.
pub(crate) struct Entry<S, T> {
    pub(crate) id: RegistrationId,
    pub(crate) registration: Registration<S, T>,
}

impl<S, T> Entry<S, T> {
    /// Whether the handler looks at its scope itself. Whether it does so at a moment, `Work::heeds`
    /// says.
    #[inline]
    pub(crate) fn cooperates(&self) -> bool {
        self.registration.cooperation == Cooperation::Cooperative
    }
}

/// What an emission asks, in the order of registration.
pub(crate) struct List<S, T> {
    pub(crate) entries: Box<[Arc<Entry<S, T>>]>,
    /// Whether any of them has a predicate.
    pub(crate) predicates: bool,
    /// Whether any of them looks at its scope itself.
    pub(crate) cooperative: bool,
}

impl<S, T> List<S, T> {
    fn new(entries: Box<[Arc<Entry<S, T>>]>) -> Self {
        let has_predicate = |entry: &Arc<Entry<S, T>>| entry.registration.predicate.is_some();
        Self {
            predicates: entries.iter().any(has_predicate),
            cooperative: entries.iter().any(|entry| entry.cooperates()),
            entries,
        }
    }
}

/// A list without its types, for reports.
pub(crate) trait Roster: Send + Sync {
    fn id(&self, at: usize) -> RegistrationId;
    fn name(&self, at: usize) -> &RegistrationName;
}

impl<S, T> Roster for List<S, T> {
    fn id(&self, at: usize) -> RegistrationId {
        self.entries[at].id
    }

    fn name(&self, at: usize) -> &RegistrationName {
        &self.entries[at].registration.name
    }
}

pub(crate) struct Index<S, T> {
    entries: HashMap<RegistrationId, Arc<Entry<S, T>>>,
    keyed: HashMap<Key, Bucket<S, T>>,
    unkeyed: Bucket<S, T>,
    declared_async: BTreeSet<RegistrationId>,
    empty: Arc<List<S, T>>,
    /// The id that was given last.
    last: RegistrationId,
    /// Rises with every change.
    revision: u64,
}

struct Bucket<S, T> {
    entries: BTreeMap<RegistrationId, Arc<Entry<S, T>>>,
    list: OnceLock<Arc<List<S, T>>>,
}

impl<S, T> Default for Bucket<S, T> {
    fn default() -> Self {
        Self {
            entries: BTreeMap::new(),
            list: OnceLock::new(),
        }
    }
}

impl<S, T> Bucket<S, T> {
    fn insert(&mut self, entry: &Arc<Entry<S, T>>) {
        self.entries.insert(entry.id, Arc::clone(entry));
        self.list = OnceLock::new();
    }

    fn remove(&mut self, id: RegistrationId) {
        self.entries.remove(&id);
        self.list = OnceLock::new();
    }

    fn list(&self) -> &Arc<List<S, T>> {
        self.list
            .get_or_init(|| Arc::new(List::new(self.entries.values().cloned().collect())))
    }
}

impl<S, T> Index<S, T> {
    pub(crate) fn new() -> Self {
        Self {
            entries: HashMap::new(),
            keyed: HashMap::new(),
            unkeyed: Bucket::default(),
            declared_async: BTreeSet::new(),
            empty: Arc::new(List::new(Box::default())),
            last: RegistrationId(NonZeroU64::MIN),
            revision: 0,
        }
    }

    pub(crate) fn revision(&self) -> u64 {
        self.revision
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Takes a registration, and gives it an id behind all others.
    pub(crate) fn insert(&mut self, registration: Registration<S, T>) -> RegistrationId {
        // 2^64 registrations take centuries, so that the ids never meet their end.
        self.last = RegistrationId(self.last.0.saturating_add(1));
        let id = self.last;
        let entry = Arc::new(Entry { id, registration });
        let keys = &entry.registration.keys;
        if keys.is_empty() {
            self.unkeyed.insert(&entry);
        }
        for key in keys {
            match self.keyed.get_mut(key) {
                Some(bucket) => bucket.insert(&entry),
                None => self.keyed.entry(key.clone()).or_default().insert(&entry),
            }
        }
        if entry.registration.declared == Declared::Async {
            self.declared_async.insert(id);
        }
        self.entries.insert(id, entry);
        self.revision += 1;
        id
    }

    pub(crate) fn remove(&mut self, id: RegistrationId) -> Option<Arc<Entry<S, T>>> {
        let entry = self.entries.remove(&id)?;
        if entry.registration.keys.is_empty() {
            self.unkeyed.remove(id);
        }
        for key in &entry.registration.keys {
            if let Some(bucket) = self.keyed.get_mut(key) {
                bucket.remove(id);
                if bucket.entries.is_empty() {
                    self.keyed.remove(key);
                }
            }
        }
        self.declared_async.remove(&id);
        self.revision += 1;
        Some(entry)
    }

    /// Every registration, in the order of registration.
    pub(crate) fn entries(&self) -> Vec<&Entry<S, T>> {
        let mut entries: Vec<_> = self.entries.values().map(|entry| &**entry).collect();
        entries.sort_unstable_by_key(|entry| entry.id);
        entries
    }

    /// The first registration that is declared async, if there is one.
    pub(crate) fn first_declared_async(&self) -> Option<&RegistrationName> {
        let id = self.declared_async.first()?;
        Some(&self.entries[id].registration.name)
    }

    /// What the signal's keys find: each registration once, in the order of registration.
    #[inline]
    pub(crate) fn find(&self, signal: &S) -> Arc<List<S, T>>
    where
        S: Keyed,
    {
        let mut found = Some(&self.unkeyed).filter(|bucket| !bucket.entries.is_empty());
        for key in signal.keys() {
            let Some(bucket) = self.keyed.get(&key) else {
                continue;
            };
            if found.replace(bucket).is_some() {
                return self.merge(signal);
            }
        }
        Arc::clone(found.map_or(&self.empty, Bucket::list))
    }

    /// The same where more than one bucket answers.
    #[inline(never)]
    fn merge(&self, signal: &S) -> Arc<List<S, T>>
    where
        S: Keyed,
    {
        let keyed = signal.keys().filter_map(|key| self.keyed.get(&key));
        let mut found: Vec<_> = std::iter::once(&self.unkeyed)
            .chain(keyed)
            .flat_map(|bucket| bucket.list().entries.iter().cloned())
            .collect();
        // Each bucket is a sorted run, which the stable sort merges in linear time.
        found.sort_by_key(|entry| entry.id);
        found.dedup_by_key(|entry| entry.id);
        Arc::new(List::new(found.into()))
    }
}

impl<S, T> fmt::Debug for Index<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Index")
            .field("registrations", &self.entries.len())
            .field("keys", &self.keyed.len())
            .field("revision", &self.revision)
            .finish_non_exhaustive()
    }
}
