//! Immutable registries, composed from ordered fragments (ADR-0119 D6).

use std::collections::HashMap;
use std::fmt;

use serde::Serialize;

use crate::declare::canonical::SnapshotEnvelope;
use crate::declare::strict::SnapshotRefused;

/// The contract version of [`Registry::snapshot`].
const CONTRACT_VERSION: &str = "1";

/// What one owner contributes to a registry, in its order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegistryFragment<T> {
    owner: String,
    items: Vec<(String, T, Entry)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    New,
    Override,
}

impl<T> RegistryFragment<T> {
    /// An empty fragment of this owner.
    pub fn new(owner: impl Into<String>) -> Self {
        Self {
            owner: owner.into(),
            items: Vec::new(),
        }
    }

    /// Adds an item under a key that no other fragment has.
    #[must_use]
    pub fn item(mut self, key: impl Into<String>, item: T) -> Self {
        self.items.push((key.into(), item, Entry::New));
        self
    }

    /// Adds an item in the place of the one that an earlier fragment has under this key.
    #[must_use]
    pub fn overriding(mut self, key: impl Into<String>, item: T) -> Self {
        self.items.push((key.into(), item, Entry::Override));
        self
    }
}

/// Why fragments do not compose.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RegistryError {
    /// Two fragments, or one fragment twice, have a key.
    #[error("registry `{registry}`: `{key}` is declared by `{first}` and by `{second}`")]
    DuplicateKey {
        /// The registry's name.
        registry: String,
        /// The key in question.
        key: String,
        /// The owner that declared it first.
        first: String,
        /// The owner that declared it again.
        second: String,
    },
    /// An override has nothing to override.
    #[error("registry `{registry}`: `{owner}` overrides `{key}`, which nobody declares before it")]
    NothingToOverride {
        /// The registry's name.
        registry: String,
        /// The key in question.
        key: String,
        /// The owner of the override.
        owner: String,
    },
}

/// One item of a registry, with where it comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Registered<T> {
    /// The key, unique within the registry.
    pub key: String,
    /// The owner whose item is in force.
    pub owner: String,
    /// The owners whose items it took the place of, the first declared first.
    pub overridden: Vec<String>,
    /// The item.
    pub item: T,
}

/// An immutable set of declared items in a stated order.
///
/// Enabling another fragment makes another registry; one that is in use never changes.
///
/// ```
/// use triplane_kernel::declare::{Registry, RegistryFragment};
///
/// # fn main() -> Result<(), triplane_kernel::declare::RegistryError> {
/// let core = RegistryFragment::new("core").item("b", 1).item("a", 2);
/// let plugin = RegistryFragment::new("plugin").overriding("b", 3);
/// let registry = Registry::compose("limits", [core, plugin])?;
/// let keys: Vec<_> = registry.iter().map(|entry| entry.key.as_str()).collect();
/// assert_eq!(keys, ["b", "a"]);
/// assert_eq!(registry.get("b").map(|entry| (entry.item, entry.owner.as_str())), Some((3, "plugin")));
/// # Ok(())
/// # }
/// ```
#[derive(Clone)]
pub struct Registry<T> {
    name: String,
    entries: Box<[Registered<T>]>,
    places: HashMap<String, usize>,
}

impl<T> Registry<T> {
    /// Composes fragments in the order given. An override keeps the place of what it overrides.
    ///
    /// # Errors
    ///
    /// [`RegistryError::DuplicateKey`] and [`RegistryError::NothingToOverride`].
    pub fn compose(
        name: impl Into<String>,
        fragments: impl IntoIterator<Item = RegistryFragment<T>>,
    ) -> Result<Self, RegistryError> {
        let name = name.into();
        let mut entries: Vec<Registered<T>> = Vec::new();
        let mut places = HashMap::new();
        for RegistryFragment { owner, items } in fragments {
            for (key, item, entry) in items {
                match (places.get(&key), entry) {
                    (None, Entry::New) => {
                        places.insert(key.clone(), entries.len());
                        entries.push(Registered {
                            key,
                            owner: owner.clone(),
                            overridden: Vec::new(),
                            item,
                        });
                    }
                    (Some(&place), Entry::Override) => {
                        let present: &mut Registered<T> = &mut entries[place];
                        let former = std::mem::replace(&mut present.owner, owner.clone());
                        present.overridden.push(former);
                        present.item = item;
                    }
                    (Some(&place), Entry::New) => {
                        let first = entries[place].owner.clone();
                        return Err(RegistryError::DuplicateKey {
                            registry: name,
                            key,
                            first,
                            second: owner,
                        });
                    }
                    (None, Entry::Override) => {
                        return Err(RegistryError::NothingToOverride {
                            registry: name,
                            key,
                            owner,
                        });
                    }
                }
            }
        }
        Ok(Self {
            name,
            entries: entries.into(),
            places,
        })
    }

    /// The registry's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The item under this key.
    pub fn get(&self, key: &str) -> Option<&Registered<T>> {
        self.places.get(key).map(|&place| &self.entries[place])
    }

    /// The items in their declared order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = &Registered<T>> {
        self.entries.iter()
    }

    /// The registry as it is stored and digested: items in order, each with its owner and with what
    /// it overrides.
    ///
    /// # Errors
    ///
    /// Returns the place of an item that has no durable form.
    pub fn snapshot(&self) -> Result<SnapshotEnvelope, SnapshotRefused>
    where
        T: Serialize,
    {
        let domain = format!("triplane.registry.{}", self.name);
        SnapshotEnvelope::new(domain, CONTRACT_VERSION, &self.entries)
    }
}

impl<T: fmt::Debug> fmt::Debug for Registry<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Registry")
            .field("name", &self.name)
            .field("entries", &self.entries)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_duplicate_key_names_both_owners_and_an_override_is_recorded() {
        let core = || RegistryFragment::new("core").item("a", 1);
        let duplicate = Registry::compose("r", [core(), RegistryFragment::new("x").item("a", 2)]);
        assert_eq!(
            duplicate.unwrap_err().to_string(),
            "registry `r`: `a` is declared by `core` and by `x`"
        );
        let nothing = Registry::compose("r", [RegistryFragment::new("x").overriding("a", 2)]);
        assert!(matches!(
            nothing,
            Err(RegistryError::NothingToOverride { .. })
        ));

        let plain = Registry::compose("r", [core()]).unwrap();
        let same = Registry::compose("r", [core(), RegistryFragment::new("x").overriding("a", 1)]);
        let overridden = same.unwrap();
        assert_eq!(overridden.get("a").unwrap().overridden, ["core"]);
        assert_ne!(
            plain.snapshot().unwrap().digest(),
            overridden.snapshot().unwrap().digest()
        );
    }

    #[test]
    fn the_order_of_declaration_is_part_of_the_identity() {
        let digest = |keys: [&str; 2]| {
            let fragment = RegistryFragment::new("core")
                .item(keys[0], 1)
                .item(keys[1], 1);
            Registry::compose("r", [fragment])
                .unwrap()
                .snapshot()
                .unwrap()
                .digest()
        };
        assert_ne!(digest(["a", "b"]), digest(["b", "a"]));
    }
}
