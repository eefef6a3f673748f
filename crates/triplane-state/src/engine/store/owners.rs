//! Taking the steps of owners' tables when a store is opened.

use std::sync::Arc;

use crate::engine::schema::{NotTaken, take_steps};
use crate::engine::store::busy::{Patience, direct_failure};
use crate::engine::store::connect::Role;
use crate::engine::store::direct::{begin, open};
use crate::engine::store::options::StoreOptions;
use crate::error::StateError;

/// Takes the steps that the store lacks, on a connection of its own.
pub(crate) async fn take_owner_steps(options: &Arc<StoreOptions>) -> Result<(), StateError> {
    if options.owners.is_empty() {
        return Ok(());
    }
    let options = Arc::clone(options);
    let taken = tokio::task::spawn_blocking(move || take(&options)).await;
    // It ends without an answer only when the runtime is being shut down.
    taken.unwrap_or(Err(StateError::Closed))
}

fn take(options: &StoreOptions) -> Result<(), StateError> {
    let patience = Patience::new(options.busy_timeout);
    let failed = |error| direct_failure(&options.path, error, patience.waited());
    let (connection, settings) = open(options, Role::Writer).map_err(failed)?;
    settings.check(&options.path, options.synchronous)?;
    let now_us = options.clock.now_us();
    let taken = take_steps(&connection, &options.owners, now_us, |connection| {
        begin(connection, &patience)
    });
    taken.map_err(|error| match error {
        NotTaken::Refused(error) => error,
        NotTaken::Database(error) => failed(error),
    })
}
