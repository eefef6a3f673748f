//! `triplane store backup`: a checked copy, also of a store in use.

use std::process::ExitCode;

use triplane::state::{StateError, Store};

use crate::args::StoreBackupArgs;
use crate::render::{Output, complain};

pub(crate) async fn backup(
    args: &StoreBackupArgs,
    store: &Store,
    out: &mut Output,
) -> anyhow::Result<ExitCode> {
    let made = match store.backup(&args.to).await {
        Ok(made) => made,
        Err(unsound @ StateError::BackupUnsound { .. }) => {
            complain(unsound);
            return Ok(ExitCode::FAILURE);
        }
        Err(error) => return Err(error.into()),
    };
    if args.json {
        out.json(&made);
        return Ok(ExitCode::SUCCESS);
    }
    out.line(format_args!(
        "{}: {} bytes, {} signals, {} intents, checked; epoch {} of store {}",
        made.path.display(),
        made.bytes,
        made.signals,
        made.intents,
        made.store_epoch,
        made.store_id
    ));
    Ok(ExitCode::SUCCESS)
}
