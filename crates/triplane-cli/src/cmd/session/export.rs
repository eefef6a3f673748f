//! Writing a session into a file: whole, or not at all.

use std::io::{BufWriter, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use serde::Serialize;
use tempfile::NamedTempFile;

/// A file in the making, in the folder of the one that it becomes, with mode 0600.
pub(crate) struct Export {
    path: PathBuf,
    draft: BufWriter<NamedTempFile>,
    lines: u64,
}

impl Export {
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        if path.is_dir() {
            bail!(
                "--export {}: this is a folder; name a file in it",
                path.display()
            );
        }
        let folder = path
            .parent()
            .filter(|folder| *folder != Path::new(""))
            .unwrap_or(Path::new("."));
        let draft = NamedTempFile::with_prefix_in(".triplane-export-", folder)
            .with_context(|| format!("--export {}: cannot write to its folder", path.display()))?;
        Ok(Self {
            path: path.to_owned(),
            draft: BufWriter::new(draft),
            lines: 0,
        })
    }

    pub(crate) fn line(&mut self, value: &impl Serialize) -> Result<()> {
        let written = serde_json::to_writer(&mut self.draft, value)
            .map_err(std::io::Error::from)
            .and_then(|()| self.draft.write_all(b"\n"));
        self.lines += 1;
        written.with_context(|| format!("--export {}: cannot write", self.path.display()))
    }

    /// Gives the file its name, in the place of an older one, and says how many lines it has.
    pub(crate) fn finish(self) -> Result<u64> {
        let place = || format!("--export {}: cannot write", self.path.display());
        let draft = self
            .draft
            .into_inner()
            .map_err(std::io::IntoInnerError::into_error)
            .with_context(place)?;
        draft.as_file().sync_all().with_context(place)?;
        draft.persist(&self.path).with_context(place)?;
        Ok(self.lines)
    }
}
