//! The option `--sink`: where deliveries go.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use triplane::RuntimeBuilder;
use triplane::sinks;

/// The destination that every intent of this program is for.
pub(crate) const DESTINATION: &str = "deliveries";

/// Adds the sink that `option` names; without one, the file `deliveries.jsonl` beside the store.
pub(crate) fn attach(
    builder: RuntimeBuilder,
    option: Option<&str>,
    store: &Path,
) -> Result<RuntimeBuilder> {
    let Some(option) = option else {
        return Ok(builder.sink(
            DESTINATION,
            sinks::file(store.with_file_name("deliveries.jsonl")),
        ));
    };
    match option.split_once(':') {
        Some(("file", path)) if !path.is_empty() => {
            Ok(builder.sink(DESTINATION, sinks::file(PathBuf::from(path))))
        }
        Some(("argv", words)) => {
            let words: Vec<String> = serde_json::from_str(words).with_context(|| {
                format!("--sink {option}: after argv: a JSON array of strings is wanted, such as argv:[\"notify\",\"--stdin\"]")
            })?;
            let sink = sinks::argv(words).with_context(|| format!("--sink {option}"))?;
            Ok(builder.sink(DESTINATION, sink))
        }
        _ => bail!("--sink {option}: a sink is file:PATH or argv:[\"program\",\"argument\"]"),
    }
}
