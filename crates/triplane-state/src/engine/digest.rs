//! Digests as they are stored and sent: SHA-256, in lower-case hexadecimal.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

/// The digest of `parts`, each with its length in front: no two lists of parts give the same bytes.
pub(crate) fn sha256_hex<'p>(parts: impl IntoIterator<Item = &'p [u8]>) -> String {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut text = String::with_capacity(64);
    for byte in hasher.finalize() {
        write!(text, "{byte:02x}").expect("writing to a string cannot fail");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_do_not_run_into_each_other() {
        let digest = |parts: &[&[u8]]| sha256_hex(parts.iter().copied());
        assert_ne!(digest(&[b"ab", b"c"]), digest(&[b"a", b"bc"]));
        assert_ne!(digest(&[b"a"]), digest(&[b"a", b""]));
        assert_eq!(digest(&[b"a"]).len(), 64);
    }
}
