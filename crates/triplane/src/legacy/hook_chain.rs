//! The hooks of one point as a chain of interceptors, under the profile of the point.

use std::sync::Arc;

use triplane_kernel::name::NAME_BYTES_MAX;
use triplane_kernel::{
    Called, Cooperation, Decision, HandlerError, HandlerFailure, Interceptor, InterceptorPlan,
    InterceptorRegistration, PlanBuilder, RegistrationName, Scope, StageOrder, Step, profile,
};

use crate::legacy::callback::Callback;
use crate::legacy::error::{StateCompatibilityRefused, find, is_stop};
use crate::legacy::hook_point::HookPoint;
use crate::legacy::value::Value;

/// What a hook is called with.
#[derive(Debug, Clone)]
pub struct HookCall {
    /// The point.
    pub point: HookPoint,
    /// The arguments by name, in order.
    pub arguments: Vec<(String, Value)>,
}

/// A hook: a handler of calls at a point.
pub type Hook = Callback<HookCall>;

/// How the hooks of a point are run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Manner {
    Blocking,
    Observational,
}

/// The profile of one manner, and where the hook at an index stands in its stage.
#[derive(Debug, Clone)]
pub(crate) struct Stages {
    pub(crate) declared: StageOrder,
    pub(crate) place: fn(usize) -> i32,
}

/// What a bus runs its hooks under.
#[derive(Debug, Clone)]
pub(crate) struct Manners {
    pub(crate) blocking: Stages,
    pub(crate) observational: Stages,
}

impl Manners {
    /// The profiles, in which equal places keep the order of registration.
    pub(crate) fn profiles() -> Self {
        let place = |_| 0;
        Self {
            blocking: Stages {
                declared: profile::hookbus_blocking(),
                place,
            },
            observational: Stages {
                declared: profile::hookbus_observational(),
                place,
            },
        }
    }

    pub(crate) fn stages(&self, manner: Manner) -> &Stages {
        match manner {
            Manner::Blocking => &self.blocking,
            Manner::Observational => &self.observational,
        }
    }
}

impl Manner {
    pub(crate) fn plan(self, stages: &Stages, hooks: &[Hook]) -> InterceptorPlan<HookCall> {
        let stage = stages.declared.stages()[0].name.clone();
        let mut plan = PlanBuilder::new(stages.declared.clone());
        for (index, hook) in hooks.iter().enumerate() {
            let asked = Arc::new(Asked {
                hook: hook.clone(),
                manner: self,
            });
            let name = numbered(hook.name(), index);
            let place = (stages.place)(index);
            let registration = InterceptorRegistration::new(name, stage.clone(), place, asked);
            plan = plan.register(match hook.cooperation() {
                Cooperation::Dropped => registration,
                Cooperation::Cooperative => registration.cooperative(),
            });
        }
        match plan.build() {
            Ok(plan) => plan,
            Err(error) => unreachable!("numbered names in one stage are a plan: {error}"),
        }
    }
}

/// A plan's names are unique, and a hook may be registered twice.
fn numbered(name: &RegistrationName, index: usize) -> RegistrationName {
    let place = format!("#{}", index + 1);
    let room = NAME_BYTES_MAX - place.len();
    let kept = name.as_str().floor_char_boundary(room);
    match RegistrationName::new(format!("{}{place}", &name.as_str()[..kept])) {
        Ok(name) => name,
        Err(refused) => unreachable!("a part of a name and a number are a name: {refused}"),
    }
}

/// A hook as an interceptor.
struct Asked {
    hook: Hook,
    manner: Manner,
}

impl Asked {
    fn decision(
        &self,
        answer: Result<Value, HandlerFailure>,
    ) -> Result<Decision<HookCall>, HandlerFailure> {
        let failure = match answer {
            Ok(_) => return Ok(Decision::CONTINUE),
            Err(failure) if is_stop(&failure) => return Ok(Decision::Stop(None)),
            Err(failure) => failure,
        };
        match (self.manner, failure) {
            (Manner::Observational, HandlerFailure::Failed(error)) => {
                let failure = HandlerFailure::Failed(error);
                if find::<StateCompatibilityRefused>(&failure).is_some() {
                    // The stage isolates ordinary failures, and a refusal must end the point.
                    return Err(HandlerFailure::fatal(EndsThePoint(failure)));
                }
                tracing::error!(registration = %self.hook.name(), failure = %failure.chain(),
                    "a hook failed");
                Err(failure)
            }
            (Manner::Observational | Manner::Blocking, failure) => Err(failure),
        }
    }
}

impl Interceptor<HookCall> for Asked {
    fn intercept<'a>(
        &'a self,
        call: &'a HookCall,
        scope: &'a Scope,
    ) -> Step<'a, Result<Decision<HookCall>, HandlerFailure>> {
        match self.hook.handler().call(call, scope) {
            Called::Now(answer) => Step::Ready(self.decision(answer)),
            Called::Later { future, .. } => Step::later(async move { self.decision(future.await) }),
        }
    }
}

/// An ordinary failure on its way out of a stage that isolates ordinary ones.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct EndsThePoint(HandlerFailure);

/// The failure as its hook made it.
pub(crate) fn as_made(failure: HandlerFailure) -> HandlerFailure {
    match failure {
        HandlerFailure::Fatal(HandlerError::Error(error)) => {
            match error.downcast::<EndsThePoint>() {
                Ok(ends) => ends.0,
                Err(error) => HandlerFailure::Fatal(HandlerError::Error(error)),
            }
        }
        failure => failure,
    }
}

#[cfg(test)]
mod tests {
    use triplane_testkit::suite::interceptor;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_hook_keeps_what_every_interceptor_keeps() {
        let calls = || {
            vec![HookCall {
                point: HookPoint::SessionStart,
                arguments: vec![("session".to_owned(), Value::from("s"))],
            }]
        };
        let now = Hook::sync("now", |_: &HookCall| Err(HandlerFailure::failed("broken")));
        let later = Hook::asynchronous("later", |_: &HookCall, _| {
            Box::pin(async {
                tokio::task::yield_now().await;
                Ok(Value::Null)
            })
        });
        for hook in [now.expect("a name"), later.expect("a name")] {
            for manner in [Manner::Blocking, Manner::Observational] {
                let hook = hook.clone();
                interceptor::check(&Asked { hook, manner }, calls).await;
            }
        }
    }
}
