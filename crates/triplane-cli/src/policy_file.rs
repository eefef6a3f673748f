//! Reading a policy or redaction file, JSON or TOML.

use std::fs::Metadata;
use std::io;
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use serde::de::DeserializeOwned;

/// The largest policy file that is read.
const POLICY_BYTES_MAX: u64 = 4 << 20;

/// Reads the `kind` of file at `path`: TOML if its name ends in `.toml`, JSON if it ends in `.json`, and
/// else JSON if its text begins with `{`.
pub(crate) fn read<T: DeserializeOwned>(kind: &str, path: &Path) -> Result<T> {
    let place = || format!("{kind} {}", path.display());
    let size = regular(path).with_context(place)?.len();
    if size > POLICY_BYTES_MAX {
        bail!("{}: {size} bytes are more than {POLICY_BYTES_MAX}", place());
    }
    let text = std::fs::read_to_string(path).with_context(place)?;
    let json = match path.extension().and_then(|extension| extension.to_str()) {
        Some("json") => true,
        Some("toml") => false,
        _ => text.trim_start().starts_with('{'),
    };
    if json {
        serde_json::from_str(&text).with_context(place)
    } else {
        toml::from_str(&text).with_context(place)
    }
}

/// What the system says of the file at `path`, which must be a regular one: opening a pipe waits for
/// whoever writes to it, and nobody may.
pub(crate) fn regular(path: &Path) -> io::Result<Metadata> {
    let metadata = std::fs::metadata(path)?;
    if metadata.is_file() {
        Ok(metadata)
    } else {
        Err(io::Error::other("it is no regular file"))
    }
}
