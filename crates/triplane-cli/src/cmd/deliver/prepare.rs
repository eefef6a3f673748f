//! What both ways of delivering begin with.

use anyhow::{Context as _, Result, bail};
use triplane::{DeliveryMode, Runtime, RuntimeBuilder};

use crate::args::DeliverArgs;
use crate::sink_option;

/// A runtime to be opened on the store, which must exist, with the sink that was asked for; and what
/// it runs in.
pub(crate) fn prepare(args: &DeliverArgs) -> Result<(RuntimeBuilder, tokio::runtime::Runtime)> {
    let store = &args.store.store;
    if !store.exists() {
        bail!(
            "{}: there is no store; triplane replay and triplane hook make one",
            store.display()
        );
    }
    let builder = Runtime::durable(store)
        .synchronous(args.store.synchronous.into())
        .busy_timeout(args.wait.busy_timeout)
        .delivery(DeliveryMode::OnDemand);
    let builder = sink_option::attach(builder, args.sink.sink.as_deref(), store)?;
    let tokio = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("cannot start the runtime")?;
    Ok((builder, tokio))
}
