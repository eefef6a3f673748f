//! The gate of an old observer, as a chain of one interceptor.

use triplane_kernel::{
    Called, Cooperation, Decision, HandlerFailure, Interceptor, InterceptorChain,
    InterceptorRegistration, PlanBuilder, Scope, StageDeclaration, StageFailure, StageName,
    StageOrder, Step,
};

use crate::legacy::callback::Callback;
use crate::legacy::value::Value;

/// One interceptor in one stage; a gate that fails refuses.
pub(crate) fn gate(check: &Callback<Value>) -> InterceptorChain<Value> {
    let stage = match StageName::new("gate") {
        Ok(stage) => stage,
        Err(refused) => unreachable!("a constant is a name: {refused}"),
    };
    let order = StageOrder::new([StageDeclaration::new(stage.clone(), StageFailure::Deny)]);
    let asked = Asked(check.clone());
    let registration = InterceptorRegistration::new(check.name().clone(), stage, 0, asked);
    let registration = match check.cooperation() {
        Cooperation::Dropped => registration,
        Cooperation::Cooperative => registration.cooperative(),
    };
    match PlanBuilder::new(order).register(registration).build() {
        Ok(plan) => InterceptorChain::new(plan),
        Err(error) => unreachable!("one registration in one stage is a plan: {error}"),
    }
}

/// A gate as an interceptor: what it answers is judged by its truth.
struct Asked(Callback<Value>);

impl Interceptor<Value> for Asked {
    fn intercept<'a>(
        &'a self,
        payload: &'a Value,
        scope: &'a Scope,
    ) -> Step<'a, Result<Decision<Value>, HandlerFailure>> {
        let judged = |answer: Result<Value, HandlerFailure>| {
            Ok(if answer?.is_truthy() {
                Decision::CONTINUE
            } else {
                Decision::deny("the gate says no")
            })
        };
        match self.0.handler().call(payload, scope) {
            Called::Now(answer) => Step::Ready(judged(answer)),
            Called::Later { future, .. } => Step::later(async move { judged(future.await) }),
        }
    }
}

#[cfg(test)]
mod tests {
    use triplane_testkit::suite::interceptor;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_gate_keeps_what_every_interceptor_keeps() {
        let actions = || vec![Value::from("open"), Value::Null];
        let now = Callback::sync("now", |action: &Value| Ok(action.clone()));
        let later = Callback::asynchronous("later", |_: &Value, _| {
            Box::pin(async {
                tokio::task::yield_now().await;
                Err(HandlerFailure::failed("broken"))
            })
        });
        for check in [now.expect("a name"), later.expect("a name")] {
            interceptor::check(&Asked(check), actions).await;
        }
    }
}
