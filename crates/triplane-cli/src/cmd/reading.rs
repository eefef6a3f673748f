//! What the reading commands share: an existing store, opened and closed around the reading.

use std::process::ExitCode;

use anyhow::{Context as _, Result, bail};
use triplane::state::{Store, StoreOptions};

use crate::args::StoreArgs;
use crate::render::{Output, chain, complain};
use crate::store_mode;

/// Opens the store, which must exist: to read makes none.
pub(crate) fn with_store<F>(args: &StoreArgs, read: F) -> ExitCode
where
    F: AsyncFnOnce(&Store, &mut Output) -> Result<ExitCode>,
{
    opened(args, read).unwrap_or_else(|error| {
        complain(chain(&error));
        ExitCode::from(2)
    })
}

fn opened<F>(args: &StoreArgs, read: F) -> Result<ExitCode>
where
    F: AsyncFnOnce(&Store, &mut Output) -> Result<ExitCode>,
{
    let path = &args.store;
    if !path.exists() {
        bail!(
            "{}: there is no store; triplane replay and triplane hook make one",
            path.display()
        );
    }
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    store_mode::report(path);
    tokio.block_on(async {
        let options = StoreOptions::new(path).synchronous(args.synchronous.into());
        let store = Store::open(options).await?;
        let read = read(&store, &mut Output::new()).await;
        store.close().await?;
        read
    })
}
