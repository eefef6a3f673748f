//! The Rust files below a folder.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// The `.rs` files below `root`/`folder`, relative to `root`, sorted; build output left out.
///
/// There are none when there is no such folder.
pub(crate) fn rust_files(root: &Path, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        let absolute = root.join(&folder);
        if !absolute.is_dir() {
            continue;
        }
        let entries = fs::read_dir(&absolute)
            .with_context(|| format!("cannot list {}", absolute.display()))?;
        for entry in entries {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                if entry.file_name() != "target" {
                    folders.push(path);
                }
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}
