//! The dispatcher: registrations that change, and emissions that do not wait for the change.

use std::fmt;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, Weak};
use std::time::Duration;

use futures::FutureExt as _;

use crate::cancel::Scope;
use crate::dispatch::call::EntryPoint;
use crate::dispatch::detached::{Detached, LateSink, ShutdownReport};
use crate::dispatch::emission;
use crate::dispatch::error::DispatchError;
use crate::dispatch::index::Index;
use crate::dispatch::key::Keyed;
use crate::dispatch::offload::{Offload, SpawnBlocking};
use crate::dispatch::phase::Host;
use crate::dispatch::planned::Planned;
use crate::dispatch::registration::{Registration, RegistrationId};
use crate::dispatch::report::DispatchReport;
use crate::dispatch::snapshot::DispatchSnapshot;
use crate::name::RegistrationName;
use crate::policy::{DispatchPolicy, PhaseSelector, SyncEntryPolicy};
use crate::sync::RwLock;

/// Tells every matching handler of a signal; none can stop it (ADR-0120 D2).
///
/// Registrations change while emissions run: an emission calls what was registered when it began.
/// No lock is held while a handler runs, so a handler may register, remove and emit.
///
/// ```
/// use std::sync::Arc;
/// use triplane_kernel::{
///     DispatchPolicy, FanoutDispatcher, Key, Keyed, Registration, RegistrationName, Scope,
///     handler_fn,
/// };
///
/// struct Saved(&'static str);
/// impl Keyed for Saved {
///     fn keys(&self) -> impl Iterator<Item = Key> {
///         [Key::from_static("saved")].into_iter()
///     }
/// }
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let dispatcher = FanoutDispatcher::<Saved, usize>::new(DispatchPolicy::isolated_in_order());
/// let length = handler_fn(|saved: &Saved| Ok(saved.0.len()));
/// dispatcher.register(
///     Registration::sync(RegistrationName::new("length")?, length).on(Key::from_static("saved")),
/// );
/// let report = dispatcher.emit(&Arc::new(Saved("abc")), &Scope::new()).await?;
/// assert_eq!(report.into_values().collect::<Vec<_>>(), [3]);
/// # Ok(())
/// # }
/// ```
pub struct FanoutDispatcher<S, T = ()> {
    /// Unique in this process: it tells this dispatcher's snapshots from others'.
    identity: u64,
    policy: DispatchPolicy,
    index: RwLock<Index<S, T>>,
    host: Host,
}

static NEXT_IDENTITY: AtomicU64 = AtomicU64::new(0);

/// A registration whose awaitables are dropped unawaited by a deprecated disposition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Discarding {
    /// The registration's id.
    pub id: RegistrationId,
    /// The registration's name.
    pub name: RegistrationName,
    /// Where in the source it was made.
    pub place: &'static Location<'static>,
}

impl<S, T> FanoutDispatcher<S, T>
where
    S: Keyed + Send + Sync + 'static,
    T: Send + 'static,
{
    /// A dispatcher without registrations. It offloads to tokio's blocking threads, and has room
    /// for 64 detached handlers, whose late failures are logged.
    pub fn new(policy: DispatchPolicy) -> Self {
        Self {
            identity: NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed),
            host: Host {
                phases: Planned::phases(&policy),
                timed: false,
                offload: Arc::new(SpawnBlocking),
                detached: Detached::default(),
            },
            policy,
            index: RwLock::new(Index::new()),
        }
    }

    /// Offloads through `offload` instead.
    #[must_use]
    pub fn with_offload(mut self, offload: Arc<dyn Offload>) -> Self {
        self.host.offload = offload;
        self
    }

    /// Has room for `handlers` detached handlers at a time instead. More are stopped and reported
    /// as [`HandlerOutcome::Overflowed`](crate::HandlerOutcome::Overflowed).
    #[must_use]
    pub fn with_detached_max(mut self, handlers: usize) -> Self {
        self.host.detached.room = handlers;
        self
    }

    /// Hands what detached handlers come to after their emission to `sink` instead of the log.
    #[must_use]
    pub fn with_late_sink(mut self, sink: LateSink) -> Self {
        self.host.detached.sink = sink;
        self
    }

    /// Reports how long each handler took, see [`DispatchEntry::took`](crate::DispatchEntry::took).
    /// Otherwise nobody looks at a clock for it.
    #[must_use]
    pub fn with_durations(mut self) -> Self {
        self.host.timed = true;
        self
    }

    /// The policy of every emission.
    pub fn policy(&self) -> &DispatchPolicy {
        &self.policy
    }

    /// Adds a registration behind all others. Emissions that run already do not call it.
    pub fn register(&self, registration: Registration<S, T>) -> RegistrationId {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        index.insert(registration)
    }

    /// Removes a registration; `false` when there is none of this id. Emissions that run already
    /// still call it.
    pub fn remove(&self, id: RegistrationId) -> bool {
        let removed = {
            let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
            index.remove(id)
        };
        // Dropped behind the lock: a handler's end may run anything, this dispatcher included.
        removed.is_some()
    }

    /// Adds a registration that is removed when the returned guard is dropped.
    pub fn subscribe(self: &Arc<Self>, registration: Registration<S, T>) -> Subscription<S, T> {
        Subscription {
            id: self.register(registration),
            dispatcher: Arc::downgrade(self),
        }
    }

    /// The number of registrations.
    pub fn len(&self) -> usize {
        self.read(Index::len)
    }

    /// Whether nothing is registered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The registrations whose returned awaitables the policy drops by `discard_unawaited`, in the
    /// order of registration: what must be looked at before that disposition is given up.
    pub fn discarding(&self) -> Vec<Discarding> {
        let discards = |declared| {
            self.policy
                .phases()
                .iter()
                .any(|phase| phase.discards(declared))
        };
        self.read(|index| {
            let entries = index.entries();
            let discarding = entries
                .into_iter()
                .filter(|entry| discards(entry.registration.declared));
            discarding
                .map(|entry| Discarding {
                    id: entry.id,
                    name: entry.registration.name.clone(),
                    place: entry.registration.place,
                })
                .collect()
        })
    }

    /// Checks, before the owner's effect, that [`emit_sync`](Self::emit_sync) will call everybody.
    ///
    /// # Errors
    ///
    /// [`DispatchError::NoSyncEntry`] when the policy has none, and
    /// [`DispatchError::DeclaredAsync`] when a registration is declared async and the policy rejects
    /// that.
    pub fn preflight_sync(&self) -> Result<DispatchSnapshot, DispatchError> {
        let mut rejects = false;
        for phase in self.policy.phases() {
            match phase.sync_entry {
                SyncEntryPolicy::Unavailable => return Err(DispatchError::NoSyncEntry),
                SyncEntryPolicy::Allow => {}
                SyncEntryPolicy::RejectDeclaredAsyncBeforeOwnerEffect => {
                    rejects |= phase.selector != PhaseSelector::DeclaredSync;
                }
            }
        }
        self.read(|index| match index.first_declared_async() {
            Some(name) if rejects => Err(DispatchError::DeclaredAsync { name: name.clone() }),
            Some(_) | None => Ok(DispatchSnapshot {
                dispatcher: self.identity,
                revision: index.revision(),
            }),
        })
    }

    /// Calls the matching handlers without waiting.
    ///
    /// A handler that answers later has failed, unless the policy discards what it returns.
    ///
    /// # Errors
    ///
    /// [`DispatchError::ForeignSnapshot`] and [`DispatchError::StaleSnapshot`] when the snapshot is
    /// not of this dispatcher at its current revision, [`DispatchError::NestedTooDeep`] when
    /// handlers emit in handlers without an end; then nobody was called. The others as the policy
    /// says, see [`DispatchError`].
    pub fn emit_sync(
        &self,
        signal: &Arc<S>,
        snapshot: &DispatchSnapshot,
    ) -> Result<DispatchReport<T>, DispatchError> {
        if snapshot.dispatcher != self.identity {
            return Err(DispatchError::ForeignSnapshot);
        }
        let find = || {
            self.read(|index| {
                if snapshot.revision == index.revision() {
                    return Ok(index.find(signal));
                }
                Err(DispatchError::StaleSnapshot {
                    snapshot: snapshot.revision,
                    current: index.revision(),
                })
            })
        };
        let scope = Scope::new();
        let emission = emission::run(&self.host, find, signal, &scope, EntryPoint::Sync);
        match emission.now_or_never() {
            Some(result) => result,
            None => unreachable!("an emission from a sync entry never waits"),
        }
    }

    /// Calls the matching handlers and waits for them as the policy says.
    ///
    /// # Errors
    ///
    /// As the policy says, see [`DispatchError`]. [`DispatchError::NestedTooDeep`] when handlers
    /// emit in handlers without an end.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime, with a policy that has a deadline or offloads.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future is the hard stop: handlers that wait are dropped, no further one is
    /// called, and there is no report. Only an offloaded handler that has begun outlives it; what
    /// it comes to is dropped. Detached handlers stay with the dispatcher.
    pub fn emit<'a>(
        &'a self,
        signal: &'a Arc<S>,
        scope: &'a Scope,
    ) -> impl Future<Output = Result<DispatchReport<T>, DispatchError>> + Send + use<'a, S, T> {
        // The emission itself and not an `async` block around it, which would move the report once
        // more.
        let find = || Ok(self.read(|index| index.find(signal)));
        emission::run(&self.host, find, signal, scope, EntryPoint::Async)
    }

    /// The number of detached handlers that run now.
    pub fn detached(&self) -> usize {
        self.host.detached.len()
    }

    /// Takes no more detached handlers, waits at most `budget` for those that run, stops the rest
    /// and names them. Emissions stay possible; what they would detach overflows.
    ///
    /// # Panics
    ///
    /// Outside a tokio runtime with its time driver.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe. The dispatcher stays closed for detached handlers; those that run go on until
    /// the dispatcher is dropped.
    pub async fn shutdown(&self, budget: Duration) -> ShutdownReport {
        self.host.detached.shutdown(budget).await
    }

    fn read<R>(&self, look: impl FnOnce(&Index<S, T>) -> R) -> R {
        look(&self.index.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A registration that lasts as long as this guard.
#[must_use = "the registration is removed when the guard is dropped"]
pub struct Subscription<S, T = ()>
where
    S: Keyed + Send + Sync + 'static,
    T: Send + 'static,
{
    id: RegistrationId,
    dispatcher: Weak<FanoutDispatcher<S, T>>,
}

impl<S, T> Subscription<S, T>
where
    S: Keyed + Send + Sync + 'static,
    T: Send + 'static,
{
    /// The registration's id.
    pub fn id(&self) -> RegistrationId {
        self.id
    }
}

impl<S, T> Drop for Subscription<S, T>
where
    S: Keyed + Send + Sync + 'static,
    T: Send + 'static,
{
    fn drop(&mut self) {
        if let Some(dispatcher) = self.dispatcher.upgrade() {
            dispatcher.remove(self.id);
        }
    }
}

impl<S, T> fmt::Debug for Subscription<S, T>
where
    S: Keyed + Send + Sync + 'static,
    T: Send + 'static,
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Subscription").field(&self.id).finish()
    }
}

impl<S, T> fmt::Debug for FanoutDispatcher<S, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FanoutDispatcher")
            .field("policy", &self.policy)
            .field("index", &self.index)
            .finish_non_exhaustive()
    }
}
