//! Reading a corpus: every line of it, before anything is judged.

use std::fs::File;
use std::io::{BufRead as _, BufReader};
use std::path::Path;

use anyhow::{Context as _, Result, bail};
use triplane_guards::corpus::Row;

/// The longest line of a corpus, in bytes: ten times the longest command that is judged.
const LINE_BYTES_MAX: usize = 640 * 1024;

/// The rows of the file, each with the number of its line.
pub(crate) fn read(path: &Path) -> Result<Vec<(usize, Row)>> {
    let place = || format!("corpus {}", path.display());
    let mut file = BufReader::new(File::open(path).with_context(place)?);
    let mut rows = Vec::new();
    let mut line = Vec::new();
    for number in 1.. {
        let place = || format!("{}: line {number}", place());
        line.clear();
        if file.read_until(b'\n', &mut line).with_context(place)? == 0 {
            break;
        }
        if line.len() > LINE_BYTES_MAX {
            bail!("{}: longer than {LINE_BYTES_MAX} bytes", place());
        }
        let text = std::str::from_utf8(&line).with_context(place)?.trim();
        if !text.is_empty() {
            rows.push((number, Row::read(text).with_context(place)?));
        }
    }
    if rows.is_empty() {
        bail!("{}: there is no row in it", place());
    }
    Ok(rows)
}
