//! The dispatcher: registrations that change, and emissions that do not wait for the change.

use std::fmt;
use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use futures::FutureExt as _;

use crate::cancel::Scope;
use crate::dispatch::emission::{self, EntryPoint};
use crate::dispatch::error::DispatchError;
use crate::dispatch::index::Index;
use crate::dispatch::key::Keyed;
use crate::dispatch::policy::DispatchPolicy;
use crate::dispatch::registration::{Registration, RegistrationId};
use crate::dispatch::report::DispatchReport;
use crate::dispatch::snapshot::DispatchSnapshot;

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
    next_id: AtomicU64,
}

static NEXT_IDENTITY: AtomicU64 = AtomicU64::new(0);

impl<S, T> FanoutDispatcher<S, T>
where
    S: Keyed + Send + Sync + 'static,
    T: Send + 'static,
{
    /// A dispatcher without registrations.
    pub fn new(policy: DispatchPolicy) -> Self {
        Self {
            identity: NEXT_IDENTITY.fetch_add(1, Ordering::Relaxed),
            policy,
            index: RwLock::new(Index::new()),
            next_id: AtomicU64::new(1),
        }
    }

    /// The policy of every emission.
    pub fn policy(&self) -> &DispatchPolicy {
        &self.policy
    }

    /// Adds a registration behind all others. Emissions that run already do not call it.
    ///
    /// # Panics
    ///
    /// When 2^64 registrations have been made.
    pub fn register(&self, registration: Registration<S, T>) -> RegistrationId {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        // Under the lock, so that ids grow in the order in which registrations become visible.
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let id = RegistrationId(NonZeroU64::new(id).expect("ids do not wrap"));
        index.insert(id, registration);
        id
    }

    /// Removes a registration; `false` when there is none of this id. Emissions that run already
    /// still call it.
    pub fn remove(&self, id: RegistrationId) -> bool {
        let mut index = self.index.write().unwrap_or_else(PoisonError::into_inner);
        index.remove(id)
    }

    /// The number of registrations.
    pub fn len(&self) -> usize {
        self.read(Index::len)
    }

    /// Whether nothing is registered.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Checks, before the owner's effect, that [`emit_sync`](Self::emit_sync) will call everybody.
    ///
    /// # Errors
    ///
    /// [`DispatchError::DeclaredAsync`] when a registration is declared async.
    pub fn preflight_sync(&self) -> Result<DispatchSnapshot, DispatchError> {
        self.read(|index| match index.first_declared_async() {
            Some(name) => Err(DispatchError::DeclaredAsync { name: name.clone() }),
            None => Ok(DispatchSnapshot {
                dispatcher: self.identity,
                revision: index.revision(),
            }),
        })
    }

    /// Calls the matching handlers without waiting.
    ///
    /// A handler that was declared sync and answers later all the same has failed.
    ///
    /// # Errors
    ///
    /// [`DispatchError::ForeignSnapshot`] and [`DispatchError::StaleSnapshot`] when the snapshot is
    /// not of this dispatcher at its current revision; then nobody was called.
    /// [`DispatchError::Failed`] by a policy that raises.
    pub fn emit_sync(
        &self,
        signal: &Arc<S>,
        snapshot: &DispatchSnapshot,
    ) -> Result<DispatchReport<T>, DispatchError> {
        if snapshot.dispatcher != self.identity {
            return Err(DispatchError::ForeignSnapshot);
        }
        let list = self.read(|index| {
            if snapshot.revision == index.revision() {
                Ok(index.find(signal))
            } else {
                Err(DispatchError::StaleSnapshot {
                    snapshot: snapshot.revision,
                    current: index.revision(),
                })
            }
        })?;
        match emission::run(&self.policy, list, signal, &Scope::new(), EntryPoint::Sync)
            .now_or_never()
        {
            Some(result) => result,
            None => unreachable!("an emission from a sync entry never waits"),
        }
    }

    /// Calls the matching handlers and waits for them as the policy says.
    ///
    /// # Errors
    ///
    /// [`DispatchError::Failed`] by a policy that raises, [`DispatchError::Cancelled`] when `scope`
    /// is cancelled or a handler cancels.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future drops the handler that waits and calls no further one; there is no
    /// report. Nothing is left behind.
    pub async fn emit(
        &self,
        signal: &Arc<S>,
        scope: &Scope,
    ) -> Result<DispatchReport<T>, DispatchError> {
        let list = self.read(|index| index.find(signal));
        emission::run(&self.policy, list, signal, scope, EntryPoint::Async).await
    }

    fn read<R>(&self, look: impl FnOnce(&Index<S, T>) -> R) -> R {
        look(&self.index.read().unwrap_or_else(PoisonError::into_inner))
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
