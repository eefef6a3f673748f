//! The option `--sink`: where deliveries go.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use triplane::RuntimeBuilder;
use triplane::sinks;

/// The destination that every intent of this program is for.
pub(crate) const DESTINATION: &str = "deliveries";

/// Where deliveries go.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SinkChoice {
    File(PathBuf),
    Argv(Vec<String>),
}

/// What `option` names; without one, the file `deliveries.jsonl` beside the store.
pub(crate) fn choose(option: Option<&str>, store: &Path) -> Result<SinkChoice> {
    let Some(option) = option else {
        return Ok(SinkChoice::File(store.with_file_name("deliveries.jsonl")));
    };
    match option.split_once(':') {
        Some(("file", path)) if !path.is_empty() => Ok(SinkChoice::File(PathBuf::from(path))),
        Some(("argv", words)) => {
            let words = serde_json::from_str(words).with_context(|| {
                format!("--sink {option}: after argv: a JSON array of strings is wanted, such as argv:[\"notify\",\"--stdin\"]")
            })?;
            Ok(SinkChoice::Argv(words))
        }
        _ => bail!("--sink {option}: a sink is file:PATH or argv:[\"program\",\"argument\"]"),
    }
}

/// Adds the sink that `option` names, as [`choose`] reads it.
pub(crate) fn attach(
    builder: RuntimeBuilder,
    option: Option<&str>,
    store: &Path,
) -> Result<RuntimeBuilder> {
    match choose(option, store)? {
        SinkChoice::File(path) => Ok(builder.sink(DESTINATION, sinks::file(path))),
        SinkChoice::Argv(words) => {
            let sink = sinks::argv(words)
                .with_context(|| format!("--sink {}", option.unwrap_or_default()))?;
            Ok(builder.sink(DESTINATION, sink))
        }
    }
}
