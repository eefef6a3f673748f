//! Counting how often something has been seen, in bounded memory.
//!
//! Events without any id are told apart by the number of their occurrence. A recorded session may
//! hold millions of them, so the counts live in a map up to a bound; past it they move into a
//! hash table in an unnamed temporary file, which the operating system removes with the process.
//!
//! The table is open-addressed with linear probing, slots of 24 bytes (key, count), at most half
//! full, and doubles by copying. Keys must be evenly distributed: they are digests.

use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};

/// Counts of 16-byte keys, in memory up to a bound and in a temporary file beyond it.
///
/// ```
/// use triplane_external_hooks::Occurrences;
///
/// let mut seen = Occurrences::default();
/// assert_eq!(seen.count([7; 16])?, 1);
/// assert_eq!(seen.count([7; 16])?, 2);
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug)]
pub struct Occurrences {
    in_memory: HashMap<[u8; 16], u64>,
    in_memory_max: usize,
    spilled: Option<Table>,
}

/// The default bound keeps at most this many keys in memory, about 16 MiB.
pub const IN_MEMORY_MAX: usize = 1 << 18;

impl Default for Occurrences {
    fn default() -> Self {
        Self::new(IN_MEMORY_MAX)
    }
}

impl Occurrences {
    /// Counts in memory up to `in_memory_max` different keys.
    pub fn new(in_memory_max: usize) -> Self {
        Self {
            in_memory: HashMap::new(),
            in_memory_max,
            spilled: None,
        }
    }

    /// Counts one more occurrence of `key` and answers how many there have been, from 1.
    ///
    /// # Errors
    ///
    /// What the operating system says when the temporary file cannot be made, read or written.
    /// The counts are then no longer reliable.
    pub fn count(&mut self, key: [u8; 16]) -> io::Result<u64> {
        if let Some(table) = &mut self.spilled {
            return table.count(key);
        }
        if self.in_memory.len() < self.in_memory_max || self.in_memory.contains_key(&key) {
            let count = self.in_memory.entry(key).or_insert(0);
            *count += 1;
            return Ok(*count);
        }
        let mut table = Table::with_room_for(self.in_memory.len())?;
        for (key, count) in std::mem::take(&mut self.in_memory) {
            table.put(key, count)?;
        }
        self.spilled.insert(table).count(key)
    }
}

const SLOT: usize = 24;

#[derive(Debug)]
struct Table {
    file: File,
    /// A power of two, at least twice `used`.
    slots: u64,
    used: u64,
}

impl Table {
    fn with_room_for(keys: usize) -> io::Result<Self> {
        let slots = (4 * keys as u64).next_power_of_two().max(64);
        let file = tempfile::tempfile()?;
        // An empty slot is all zeros, and so is a file that has only been given a length.
        file.set_len(slots * SLOT as u64)?;
        Ok(Self {
            file,
            slots,
            used: 0,
        })
    }

    fn count(&mut self, key: [u8; 16]) -> io::Result<u64> {
        let (slot, count) = self.find(key)?;
        self.write(slot, key, count + 1)?;
        if count == 0 {
            self.used += 1;
            if 2 * self.used > self.slots {
                self.double()?;
            }
        }
        Ok(count + 1)
    }

    fn put(&mut self, key: [u8; 16], count: u64) -> io::Result<()> {
        let (slot, _) = self.find(key)?;
        self.used += 1;
        self.write(slot, key, count)
    }

    /// The slot of `key` and its count; the slot it would take, and 0, if it is not there.
    fn find(&mut self, key: [u8; 16]) -> io::Result<(u64, u64)> {
        let (halves, _) = key.as_chunks::<8>();
        let mut slot = u64::from_le_bytes(halves[0]) & (self.slots - 1);
        loop {
            self.file.seek(SeekFrom::Start(slot * SLOT as u64))?;
            let mut bytes = [0; SLOT];
            self.file.read_exact(&mut bytes)?;
            let (other, count) = split(bytes);
            if count == 0 || other == key {
                return Ok((slot, count));
            }
            slot = (slot + 1) & (self.slots - 1);
        }
    }

    fn write(&mut self, slot: u64, key: [u8; 16], count: u64) -> io::Result<()> {
        let mut bytes = [0; SLOT];
        bytes[..16].copy_from_slice(&key);
        bytes[16..].copy_from_slice(&count.to_le_bytes());
        self.file.seek(SeekFrom::Start(slot * SLOT as u64))?;
        self.file.write_all(&bytes)
    }

    fn double(&mut self) -> io::Result<()> {
        let keys = usize::try_from(self.used).unwrap_or(usize::MAX / 8);
        let mut larger = Self::with_room_for(keys)?;
        self.file.rewind()?;
        let mut slots = BufReader::new(&self.file);
        for _ in 0..self.slots {
            let mut bytes = [0; SLOT];
            slots.read_exact(&mut bytes)?;
            let (key, count) = split(bytes);
            if count > 0 {
                larger.put(key, count)?;
            }
        }
        *self = larger;
        Ok(())
    }
}

fn split(bytes: [u8; SLOT]) -> ([u8; 16], u64) {
    let mut key = [0; 16];
    key.copy_from_slice(&bytes[..16]);
    let mut count = [0; 8];
    count.copy_from_slice(&bytes[16..]);
    (key, u64::from_le_bytes(count))
}

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    use super::*;

    fn key(n: u64) -> [u8; 16] {
        let digest: [u8; 32] = Sha256::digest(n.to_le_bytes()).into();
        digest[..16].try_into().unwrap()
    }

    #[test]
    fn counts_go_on_when_they_move_out_of_memory() {
        let mut bounded = Occurrences::new(100);
        let mut unbounded = Occurrences::new(usize::MAX);
        for n in 0..20_000_u64 {
            let key = key(n * n % 7_001);
            assert_eq!(bounded.count(key).unwrap(), unbounded.count(key).unwrap());
        }
        assert!(bounded.in_memory.is_empty());
        let table = bounded.spilled.unwrap();
        assert!(table.slots >= 2 * table.used);
    }

    #[test]
    fn keys_that_want_the_same_slot_are_told_apart() {
        let mut seen = Occurrences::new(0);
        for low in 0..10 {
            let mut key = [0; 16];
            key[15] = low;
            assert_eq!(seen.count(key).unwrap(), 1);
            assert_eq!(seen.count(key).unwrap(), 2);
        }
    }
}
