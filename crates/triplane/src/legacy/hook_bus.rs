//! `HookBus`: hooks at the points of a session, one after the other.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use futures::future::BoxFuture;
use triplane_kernel::{ChainOutcome, HandlerFailure, InterceptorChain, Scope, StageOrder};

use crate::legacy::error::{Raised, StateCompatibilityRefused, find};
use crate::legacy::hook_chain::{Hook, HookCall, Manner, Manners, as_made};
use crate::legacy::hook_point::{DORMANT_POINTS, HookPoint};
use crate::legacy::hook_signal::HookSignal;
use crate::legacy::session_observer::SessionObserver;
use crate::legacy::value::{Signal, Value};

/// The longest summary of a failure in a recorded denial, in characters.
pub const SUMMARY_CHARACTERS_MAX: usize = 200;

/// The port to what retries messages; implemented by a durable writer.
///
/// The owner of a bus calls it once before the hooks of [`HookPoint::SessionEnd`].
pub trait MessageDrain: Send + Sync {
    /// Writes what is left, and says whether everything was written.
    ///
    /// An error is the store's refusal for good.
    fn flush<'a>(
        &'a self,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<bool, StateCompatibilityRefused>>;
}

/// The old hook bus (plane: interception for the points that may refuse, observation for the others).
///
/// Move a hook that may refuse to a [`Guard`](triplane_interception::Guard), which answers a verdict
/// instead of failing, and one that only observes to
/// [`SessionObservation`](triplane_signals::SessionObservation).
///
/// It is the kernel's profiles `hookbus_blocking` and `hookbus_observational`. At a blocking point the
/// first failure is recorded as a denial and raised; at any other point a failure is logged, and only
/// a store's refusal ends the point. A hook that fails with [`StopHook`](crate::legacy::StopHook)
/// skips the rest. What was emitted is recorded as a signal on the bound observer.
pub struct HookBus {
    manners: Manners,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// In the order in which points were first registered at.
    points: Vec<(HookPoint, Vec<Hook>)>,
    chains: HashMap<(HookPoint, Manner), InterceptorChain<HookCall>>,
    observer: Option<Arc<SessionObserver>>,
    drains: Vec<Arc<dyn MessageDrain>>,
}

impl HookBus {
    /// Without hooks, recording on `observer` if there is one.
    pub fn new(observer: Option<Arc<SessionObserver>>) -> Self {
        Self {
            manners: Manners::profiles(),
            state: Mutex::new(State {
                observer,
                ..State::default()
            }),
        }
    }

    #[cfg(feature = "altered-policies")]
    pub(crate) fn under(self, manners: Manners) -> Self {
        Self { manners, ..self }
    }

    /// Records on another observer from now on, or on none.
    pub fn bind(&self, observer: Option<Arc<SessionObserver>>) {
        self.state().observer = observer;
    }

    /// Flushes these before the hooks of [`HookPoint::SessionEnd`].
    pub fn set_message_drains(&self, drains: Vec<Arc<dyn MessageDrain>>) {
        self.state().drains = drains;
    }

    /// Adds a hook behind all others of the point; one that is added twice is called twice. At a
    /// dormant point this is warned of, and answered.
    pub fn on(&self, point: HookPoint, hook: &Hook) -> Registered {
        self.change(point, |hooks| hooks.push(hook.clone()));
        if DORMANT_POINTS.contains(&point) {
            tracing::warn!(%point, registration = %hook.name(),
                "nobody emits this point; its hooks are not called");
            return Registered::Dormant;
        }
        Registered::Live
    }

    /// Removes a hook once, if it is there.
    pub fn off(&self, point: HookPoint, hook: &Hook) {
        if self.handlers_for(point).is_empty() {
            return;
        }
        let removed = self.change(point, |hooks| {
            let at = hooks.iter().position(|other| other.is(hook))?;
            Some(hooks.remove(at))
        });
        drop(removed);
    }

    /// The hooks of a point, in the order in which they are called.
    pub fn handlers_for(&self, point: HookPoint) -> Vec<Hook> {
        let state = self.state();
        let found = state.points.iter().find(|(other, _)| *other == point);
        found.map(|(_, hooks)| hooks.clone()).unwrap_or_default()
    }

    /// The points that hooks were registered at, in the order of the first registration.
    pub fn points(&self) -> Vec<HookPoint> {
        self.state()
            .points
            .iter()
            .map(|(point, _)| *point)
            .collect()
    }

    /// Calls the hooks of a point: blocking at a point that may refuse, observational at any other.
    ///
    /// # Errors
    ///
    /// At a blocking point as [`blocking_emit`](Self::blocking_emit). At any other a store's refusal,
    /// a hook's cancellation and a fatal failure.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves later hooks uncalled and records nothing.
    pub async fn emit(
        &self,
        point: HookPoint,
        arguments: Vec<(String, Value)>,
        scope: &Scope,
    ) -> Result<(), Raised> {
        if point.is_blocking() {
            return self.blocking_emit(point, arguments, scope).await;
        }
        let flushed = match point {
            HookPoint::SessionEnd => self.flush_message_retries(scope).await,
            _ => Ok(true),
        };
        let outcome = match flushed {
            Ok(_) => {
                self.call(point, Manner::Observational, &arguments, scope)
                    .await
            }
            Err(refusal) => Err(HandlerFailure::failed(refusal)),
        };
        match outcome {
            Ok(()) => {
                // A message has a signal of its own.
                if point != HookPoint::MessageAdd {
                    self.record(point, arguments, scope).await?;
                }
                Ok(())
            }
            Err(failure) => {
                // A group that is graver than an ordinary error ends the point by itself.
                if matches!(failure, HandlerFailure::Failed(_))
                    && let Some(refusal) = find::<StateCompatibilityRefused>(&failure)
                {
                    let mut recorded = arguments;
                    put(
                        &mut recorded,
                        "exception",
                        Value::text(summary(&refusal.to_string())),
                    );
                    self.record(point, recorded, scope).await?;
                }
                Err(failure.into())
            }
        }
    }

    /// Calls the hooks of any point; the first that fails ends it.
    ///
    /// # Errors
    ///
    /// The hook's failure; an ordinary one is recorded as a denial before.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves later hooks uncalled and records nothing.
    pub async fn blocking_emit(
        &self,
        point: HookPoint,
        arguments: Vec<(String, Value)>,
        scope: &Scope,
    ) -> Result<(), Raised> {
        match self.call(point, Manner::Blocking, &arguments, scope).await {
            Ok(()) => self.record(point, arguments, scope).await,
            Err(failure) => {
                if let HandlerFailure::Failed(_) = &failure {
                    let mut recorded = arguments;
                    put(&mut recorded, "denied", Value::Bool(true));
                    put(
                        &mut recorded,
                        "exception",
                        Value::text(summary(&failure.to_string())),
                    );
                    self.record(point, recorded, scope).await?;
                }
                Err(failure.into())
            }
        }
    }

    /// Flushes every drain, and says whether all wrote everything.
    ///
    /// # Errors
    ///
    /// The first refusal, when all were flushed; later ones are logged.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future leaves later drains unflushed.
    pub async fn flush_message_retries(
        &self,
        scope: &Scope,
    ) -> Result<bool, StateCompatibilityRefused> {
        let drains = self.state().drains.clone();
        let (mut whole, mut first) = (true, None);
        for drain in drains {
            match drain.flush(scope).await {
                Ok(flushed) => whole &= flushed,
                Err(refusal) if first.is_none() => first = Some(refusal),
                Err(refusal) => {
                    tracing::error!(failure = %refusal, "another flush of messages was refused");
                }
            }
        }
        first.map_or(Ok(whole), Err)
    }

    /// The stages under which [`emit`](Self::emit) runs the hooks of a point: the profile that
    /// [`HookPoint::profile`] names.
    pub fn stages(&self, point: HookPoint) -> &StageOrder {
        let manner = if point.is_blocking() {
            Manner::Blocking
        } else {
            Manner::Observational
        };
        &self.manners.stages(manner).declared
    }

    async fn call(
        &self,
        point: HookPoint,
        manner: Manner,
        arguments: &[(String, Value)],
        scope: &Scope,
    ) -> Result<(), HandlerFailure> {
        let chain = self.chain(point, manner);
        let call = HookCall {
            point,
            arguments: arguments.to_vec(),
        };
        match chain.apply(call, scope).await.into_outcome() {
            // No hook answers a denial: what it refuses, it refuses by failing.
            ChainOutcome::Proceed(_) | ChainOutcome::Denied { .. } => Ok(()),
            ChainOutcome::Failed { failure, .. } => Err(as_made(failure)),
        }
    }

    /// Best effort: an ordinary failure is logged.
    async fn record(
        &self,
        point: HookPoint,
        arguments: Vec<(String, Value)>,
        scope: &Scope,
    ) -> Result<(), Raised> {
        let Some(observer) = self.state().observer.clone() else {
            return Ok(());
        };
        // A handle of a store is for the hooks: it must not outlive the call in a record.
        let kept = arguments.into_iter().filter(|(name, _)| name != "db");
        let kwargs = kept.collect();
        let signal = Signal::from(HookSignal { point, kwargs });
        match observer.emit(signal, scope).await {
            Ok(_) => Ok(()),
            Err(raised) if raised.is_ordinary() => {
                tracing::error!(%point, registration = raised.registration(), failure = %raised,
                    "a passed point could not be recorded");
                Ok(())
            }
            Err(raised) => Err(raised),
        }
    }

    fn change<R>(&self, point: HookPoint, change: impl FnOnce(&mut Vec<Hook>) -> R) -> R {
        let mut state = self.state();
        let outdated = state.chains.extract_if(|(other, _), _| *other == point);
        let outdated: Vec<_> = outdated.collect();
        let at = state.points.iter().position(|(other, _)| *other == point);
        let at = at.unwrap_or_else(|| {
            state.points.push((point, Vec::new()));
            state.points.len() - 1
        });
        let result = change(&mut state.points[at].1);
        drop(state);
        // Dropped behind the lock: a hook's end may run anything, this bus included.
        drop(outdated);
        result
    }

    /// The chain over the hooks as they are now. A clone goes on with what it began with.
    fn chain(&self, point: HookPoint, manner: Manner) -> InterceptorChain<HookCall> {
        let mut state = self.state();
        if let Some(chain) = state.chains.get(&(point, manner)) {
            return chain.clone();
        }
        let found = state.points.iter().find(|(other, _)| *other == point);
        let hooks = found.map_or(&[][..], |(_, hooks)| hooks);
        let chain = InterceptorChain::new(manner.plan(self.manners.stages(manner), hooks));
        state.chains.insert((point, manner), chain.clone());
        chain
    }

    /// The lists are changed by whole operations of `Vec`, so that a panic leaves them whole.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// What became of a registration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Registered {
    /// The point is emitted.
    Live,
    /// Nobody emits the point.
    Dormant,
}

fn put(arguments: &mut Vec<(String, Value)>, name: &str, value: Value) {
    match arguments.iter_mut().find(|(other, _)| other == name) {
        Some((_, old)) => *old = value,
        None => arguments.push((name.to_owned(), value)),
    }
}

fn summary(text: &str) -> String {
    text.chars().take(SUMMARY_CHARACTERS_MAX).collect()
}

/// A hook with the point that it is meant for.
#[derive(Debug, Clone)]
pub struct Tagged {
    /// The point.
    pub point: HookPoint,
    /// The hook itself.
    pub hook: Hook,
}

/// Tags a hook with a point (plane: interception and observation, as the point). It is registered nowhere by
/// that.
///
/// Move to an [`InterceptorRegistration`](triplane_kernel::InterceptorRegistration), which names its stage.
pub fn hook(point: HookPoint, hook: &Hook) -> Tagged {
    Tagged {
        point,
        hook: hook.clone(),
    }
}

impl fmt::Debug for HookBus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = self.state();
        let counts = state
            .points
            .iter()
            .map(|(point, hooks)| (*point, hooks.len()));
        f.debug_map().entries(counts).finish()
    }
}
