//! Putting a runtime together.

use std::error::Error;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use triplane_interception::{ActionExecutor, Guard, PermissionPolicy, Presence, Workspace};
use triplane_signals::SessionObservation;
use triplane_state::commit::CommitParticipant;
use triplane_state::delivery::DeliverySink;
use triplane_state::retry::RetryPolicy;
use triplane_state::{Lifetime, OwnerMigrations, Store, StoreOptions, Synchronous};
use uuid::Uuid;

use crate::error::RuntimeError;
use crate::evidence::{AuditEvidence, OutcomeSignal};
use crate::operation::Operations;
use crate::redaction::Redaction;
use crate::runtime::delivery::DeliveryTask;
use crate::runtime::guards::Guards;
use crate::runtime::handle::{Inner, Runtime};

/// When a runtime with sinks delivers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum DeliveryMode {
    /// In a task of its own, as soon as something is committed.
    #[default]
    Background,
    /// Only when [`Runtime::deliver_due`] is called.
    OnDemand,
}

/// Collects what a [`Runtime`] is made of.
///
/// Nothing is opened before [`open`](Self::open).
#[must_use]
pub struct RuntimeBuilder {
    store: StoreOptions,
    guards: Guards,
    policy: Option<Arc<PermissionPolicy>>,
    participants: Vec<Arc<dyn CommitParticipant>>,
    names: Vec<String>,
    sinks: Vec<(String, Arc<dyn DeliverySink>)>,
    retry: RetryPolicy,
    mode: DeliveryMode,
    redaction: Option<Redaction>,
    workspace: Option<PathBuf>,
}

impl Runtime {
    /// Starts a runtime whose facts survive in the store at `path`, created on first use.
    pub fn durable(path: impl Into<PathBuf>) -> RuntimeBuilder {
        RuntimeBuilder::new(path.into())
    }
}

impl RuntimeBuilder {
    fn new(path: PathBuf) -> Self {
        Self {
            store: StoreOptions::new(path),
            guards: Guards::default(),
            policy: None,
            participants: Vec::new(),
            names: Vec::new(),
            sinks: Vec::new(),
            retry: RetryPolicy::default(),
            mode: DeliveryMode::default(),
            redaction: None,
            workspace: None,
        }
    }

    /// Adds a guard. Guards are asked in the order they are added, before any policy.
    pub fn guard(mut self, guard: impl Guard + 'static) -> Self {
        self.guards.add(guard);
        self
    }

    /// Adds a guard that is still being made, at this place in the order of guards.
    ///
    /// [`open`](Self::open) waits for `making` and for the store together: what takes processor time
    /// runs meanwhile if it has a thread of its own. Such futures are waited for in their order, one
    /// after the other. An error is [`RuntimeError::Guard`], and the runtime is not opened: nothing
    /// is let through for want of a guard.
    ///
    /// ```
    /// # #[cfg(feature = "guards")]
    /// # async fn f() -> Result<(), triplane::RuntimeError> {
    /// # use triplane::{Runtime, guards};
    /// let rules = tokio::task::spawn_blocking(|| guards::commands().rules("team.toml"));
    /// let runtime = Runtime::durable(".triplane/state.db")
    ///     .guard_later(async { rules.await.expect("reading does not panic") })
    ///     .guard(guards::paths("/srv/app"))
    ///     .open()
    ///     .await?;
    /// # Ok(())
    /// # }
    /// ```
    pub fn guard_later<G, E>(
        mut self,
        making: impl Future<Output = Result<G, E>> + Send + 'static,
    ) -> Self
    where
        G: Guard + 'static,
        E: Into<Box<dyn Error + Send + Sync>>,
    {
        self.guards.add_later(making);
        self
    }

    /// Sets the policy that narrows and rewrites after the guards.
    pub fn policy(mut self, policy: PermissionPolicy) -> Self {
        self.policy = Some(Arc::new(policy));
        self
    }

    /// Adds a participant to every commit, after the runtime's own.
    pub fn participant(mut self, participant: impl CommitParticipant + 'static) -> Self {
        self.participants.push(Arc::new(participant));
        self
    }

    /// Adds a destination and the sink that conveys to it.
    pub fn sink(mut self, name: &str, sink: impl DeliverySink + 'static) -> Self {
        self.sinks.push((name.to_owned(), Arc::new(sink)));
        self.destination(name)
    }

    /// Adds a destination that another process conveys to: its intents are committed here and stay
    /// pending.
    pub fn destination(mut self, name: &str) -> Self {
        self.names.push(name.to_owned());
        self
    }

    /// When failed deliveries are tried again. Default: [`RetryPolicy::default`].
    pub fn retry(mut self, retry: RetryPolicy) -> Self {
        self.retry = retry;
        self
    }

    /// When deliveries happen. Default: [`DeliveryMode::Background`].
    pub fn delivery(mut self, mode: DeliveryMode) -> Self {
        self.mode = mode;
        self
    }

    /// What is hidden before anything is stored, signalled or sent. Default:
    /// [`Redaction::shipped`].
    pub fn redaction(mut self, redaction: Redaction) -> Self {
        self.redaction = Some(redaction);
        self
    }

    /// What a commit survives. Default: [`Synchronous::Full`], a power cut.
    pub fn synchronous(mut self, synchronous: Synchronous) -> Self {
        self.store = self.store.synchronous(synchronous);
        self
    }

    /// How long the store stays open. Default: [`Lifetime::Long`]; a process that commits once and
    /// ends spares the disk with [`Lifetime::Short`].
    pub fn lifetime(mut self, lifetime: Lifetime) -> Self {
        self.store = self.store.lifetime(lifetime);
        self
    }

    /// How long to wait for a store that another process has locked. Default: that of
    /// [`StoreOptions`].
    pub fn busy_timeout(mut self, timeout: Duration) -> Self {
        self.store = self.store.busy_timeout(timeout);
        self
    }

    /// Takes the steps of an owner's tables that the store lacks, when it is opened.
    pub fn owner(mut self, owner: OwnerMigrations) -> Self {
        self.store = self.store.owner(owner);
        self
    }

    /// The folder that paths of in-process calls are judged against. Default: the current folder.
    pub fn workspace(mut self, root: impl Into<PathBuf>) -> Self {
        self.workspace = Some(root.into());
        self
    }

    /// Opens the store, compiles the plan and starts the delivery worker.
    ///
    /// # Errors
    ///
    /// [`RuntimeError::DuplicateDestination`] and [`RuntimeError::Plan`] before anything is opened;
    /// [`RuntimeError::State`] when the store cannot be used. With a guard that is
    /// [still being made](Self::guard_later), [`RuntimeError::Guard`] when it could not be made, and
    /// [`RuntimeError::Plan`], come when the store has been opened, and closed again.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves no task and no open transaction behind.
    pub async fn open(self) -> Result<Runtime, RuntimeError> {
        let mut names = self.names.clone();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(RuntimeError::DuplicateDestination {
                name: pair[0].clone(),
            });
        }
        let mut plan = pin!(self.guards.plan(self.policy));
        // Without a guard that is still made, what is wrong with the plan is found before the store is.
        let made = plan.as_mut().now_or_never().transpose()?;
        let workspace = Workspace {
            root: self
                .workspace
                .or_else(|| std::env::current_dir().ok())
                .unwrap_or_default(),
            home: std::env::home_dir(),
            presence: Presence::Here,
        };
        // The store opens on a thread of its own; what only takes time is made meanwhile.
        let redaction = self.redaction;
        let (store, plan, redaction) = futures::join!(
            Store::open(self.store),
            async {
                match made {
                    Some(plan) => Ok(plan),
                    None => plan.await,
                }
            },
            async { redaction.unwrap_or_default() },
        );
        let (store, plan) = match (store, plan) {
            (store, Ok(plan)) => (store?, Arc::new(plan)),
            (Ok(store), Err(error)) => {
                // An open connection would leave its log behind. What kept the runtime from being
                // opened is told, and not what became of the log.
                let _closed = store.close().await;
                return Err(error);
            }
            (Err(_), Err(error)) => return Err(error),
        };
        let mut participants: Vec<Arc<dyn CommitParticipant>> = vec![
            Arc::new(AuditEvidence),
            Arc::new(OutcomeSignal {
                destinations: self.names,
            }),
        ];
        participants.extend(self.participants);
        let background = self.mode == DeliveryMode::Background && !self.sinks.is_empty();
        let sinks = self.sinks.into_iter();
        let worker = sinks.fold(
            store.delivery().retry(self.retry),
            |worker, (name, sink)| worker.sink(name, sink),
        );
        let task = background.then(|| DeliveryTask::start(worker.clone()));
        let operations = Operations {
            executor: ActionExecutor::new(Arc::clone(&plan)),
            plan,
            redaction,
            participants,
            store,
            observation: SessionObservation::new(),
        };
        Ok(Runtime::new(Inner {
            operations: Arc::new(operations),
            worker,
            task,
            workspace,
            session: Uuid::now_v7().to_string().into(),
        }))
    }
}

impl fmt::Debug for RuntimeBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RuntimeBuilder")
            .field("store", &self.store)
            .field("guards", &self.guards)
            .field("policy", &self.policy)
            .field("destinations", &self.names)
            .finish_non_exhaustive()
    }
}
