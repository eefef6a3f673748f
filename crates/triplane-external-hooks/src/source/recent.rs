//! A map that forgets what has not been touched for longest.

use std::collections::HashMap;

/// At most `entries_max` entries by name. When it is full, the half that has not been touched for
/// longest is given back at once, so that forgetting costs little per entry.
#[derive(Debug)]
pub(crate) struct Recent<V> {
    entries: HashMap<String, (u64, V)>,
    entries_max: usize,
    clock: u64,
}

impl<V> Recent<V> {
    pub(crate) fn new(entries_max: usize) -> Self {
        Self {
            entries: HashMap::new(),
            entries_max,
            clock: 0,
        }
    }

    /// The entry of `name`, which counts as touched.
    pub(crate) fn touch(&mut self, name: &str) -> Option<&mut V> {
        self.clock += 1;
        let (touched, value) = self.entries.get_mut(name)?;
        *touched = self.clock;
        Some(value)
    }

    /// Sets the entry of `name` and answers what had to be forgotten for it, oldest first.
    pub(crate) fn insert(&mut self, name: String, value: V) -> Vec<V> {
        self.clock += 1;
        let mut forgotten = Vec::new();
        if self.entries.len() >= self.entries_max && !self.entries.contains_key(&name) {
            let mut touched: Vec<u64> = self.entries.values().map(|(at, _)| *at).collect();
            touched.sort_unstable();
            let newest_forgotten = touched[(touched.len() - 1) / 2];
            forgotten = oldest_first(
                self.entries
                    .extract_if(|_, (at, _)| *at <= newest_forgotten)
                    .map(|(_, entry)| entry),
            );
        }
        self.entries.insert(name, (self.clock, value));
        forgotten
    }

    pub(crate) fn remove(&mut self, name: &str) -> Option<V> {
        self.entries.remove(name).map(|(_, value)| value)
    }

    /// Gives back everything, oldest first.
    pub(crate) fn drain(&mut self) -> Vec<V> {
        oldest_first(self.entries.drain().map(|(_, entry)| entry))
    }
}

fn oldest_first<V>(entries: impl Iterator<Item = (u64, V)>) -> Vec<V> {
    let mut entries: Vec<(u64, V)> = entries.collect();
    entries.sort_unstable_by_key(|(touched, _)| *touched);
    entries.into_iter().map(|(_, value)| value).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_half_that_was_not_touched_for_longest_is_forgotten() {
        let mut recent = Recent::new(4);
        for name in ["a", "b", "c", "d"] {
            assert_eq!(recent.insert(name.into(), name), Vec::<&str>::new());
        }
        recent.touch("a");
        assert_eq!(recent.insert("d".into(), "d again"), Vec::<&str>::new());
        assert_eq!(recent.insert("e".into(), "e"), ["b", "c"]);
        assert_eq!(recent.remove("a"), Some("a"));
        assert_eq!(recent.remove("b"), None);
        assert_eq!(recent.drain(), ["d again", "e"]);
    }

    #[test]
    fn one_entry_is_room_enough() {
        let mut recent = Recent::new(1);
        assert_eq!(recent.insert("a".into(), 1), Vec::<i32>::new());
        assert_eq!(recent.insert("b".into(), 2), [1]);
        assert_eq!(recent.drain(), [2]);
    }
}
