//! A handler that carries out the steps of a scenario.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use futures::future::BoxFuture;
use serde_json::{Value as Json, json};
use tokio::time::sleep;
use triplane::legacy::{Callback, HookCall, Message, Raised, RunTerminalEnvelope, Signal, Value};
use triplane_kernel::policy::Declared;
use triplane_kernel::{AwaitableKind, Called, CancelCause, Handler, HandlerFailure, Scope};

use crate::fault;
use crate::fields::Fields as _;
use crate::json::{MESSAGE, OPAQUE, normal, normal_message, normal_signal, payload, shown_as};
use crate::operation::{Adapter, perform};
use crate::run::Run;
use crate::turns;

/// What handlers are called with, as a trace shows it.
pub(crate) trait Arguments: Send + Sync + 'static {
    fn shown(&self) -> Json;
    fn positional(&self) -> Value {
        Value::Null
    }
}

impl Arguments for Value {
    fn shown(&self) -> Json {
        // An event of a broadcaster is shown by its payload.
        match self {
            Self::Record(record) if record.type_name.as_str().starts_with("oracle_") => {
                normal(self.field("payload").unwrap_or(&Self::Null))
            }
            _ => normal(self),
        }
    }

    fn positional(&self) -> Value {
        self.clone()
    }
}

impl Arguments for HookCall {
    fn shown(&self) -> Json {
        normal(&Value::from(self.arguments.clone()))
    }
}

impl Arguments for Message {
    fn shown(&self) -> Json {
        normal_message(self)
    }

    fn positional(&self) -> Value {
        shown_as(MESSAGE, self.kind.as_str(), self.content.clone())
    }
}

impl Arguments for Signal {
    fn shown(&self) -> Json {
        normal_signal(self)
    }

    fn positional(&self) -> Value {
        self.clone().into()
    }
}

impl Arguments for RunTerminalEnvelope {
    fn shown(&self) -> Json {
        let written = self.to_json();
        json!({
            "entity": written["entity"],
            "previous_status": written["previous_status"],
            "terminal_status": written["terminal_status"],
            "reason_code": written["reason_code"],
        })
    }

    fn positional(&self) -> Value {
        shown_as(OPAQUE, "RunTerminalEnvelope", Value::Null)
    }
}

/// The handlers of a scenario: the same one for a name every time.
pub(crate) struct Handlers<S> {
    made: Mutex<HashMap<String, Callback<S>>>,
}

impl<S: Arguments> Handlers<S> {
    pub(crate) fn new() -> Self {
        Self {
            made: Mutex::default(),
        }
    }

    pub(crate) fn named(
        &self,
        run: &Arc<Run>,
        adapter: &Weak<dyn Adapter>,
        name: &str,
    ) -> Callback<S> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        let script = || {
            let scripted = Scripted::new(run, adapter, name);
            let callback = Callback::new(name, scripted.form.declared(), scripted);
            callback.expect("a handler's name is a name").cooperative()
        };
        made.entry(name.to_owned()).or_insert_with(script).clone()
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Sync,
    Async,
    Returning(AwaitableKind),
}

impl Form {
    fn declared(self) -> Declared {
        match self {
            Self::Async => Declared::Async,
            Self::Sync | Self::Returning(_) => Declared::Sync,
        }
    }
}

/// One handler. It holds the run weakly: the run holds the names that hold it.
#[derive(Clone)]
pub(crate) struct Scripted {
    run: Arc<Run>,
    adapter: Weak<dyn Adapter>,
    name: String,
    form: Form,
    spec: Arc<Value>,
}

/// Why a handler's steps ended early.
enum Interrupt {
    Return(Value),
    /// A failure, whether a cancellation came from outside, and which handler's error it is.
    Raise(HandlerFailure, Origin, Option<String>),
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Origin {
    Own,
    Outside,
}

impl Scripted {
    pub(crate) fn new(run: &Arc<Run>, adapter: &Weak<dyn Adapter>, name: &str) -> Self {
        let spec = run.spec(name);
        let form = match spec.text("form") {
            "async" => Form::Async,
            "sync_returning_coroutine" => Form::Returning(AwaitableKind::Coroutine),
            "sync_returning_awaitable" => Form::Returning(AwaitableKind::Awaitable),
            _ => Form::Sync,
        };
        Self {
            run: Arc::clone(run),
            adapter: adapter.clone(),
            name: name.to_owned(),
            form,
            spec: Arc::new(spec),
        }
    }

    pub(crate) fn declared(&self) -> Declared {
        self.form.declared()
    }

    fn event(&self, event: Json) {
        let mut event = event;
        event["handler"] = json!(self.name);
        if self.run.is_elsewhere() {
            event["offloaded"] = json!(true);
        }
        self.run.record(event);
    }

    fn finish(&self, ended: Result<Value, Interrupt>) -> Result<Value, HandlerFailure> {
        let (outcome, result) = match ended {
            Ok(value) | Err(Interrupt::Return(value)) => {
                (json!({"returned": normal(&value)}), Ok(value))
            }
            Err(Interrupt::Raise(failure, Origin::Outside, _))
                if fault::is_cancellation(&failure) =>
            {
                (json!({"cancelled": true}), Err(failure))
            }
            Err(Interrupt::Raise(failure, _, whom)) => {
                self.run.blame(&self.name, whom);
                (json!({"raised": fault::describe(&failure)}), Err(failure))
            }
        };
        self.event(json!({"ev": "finish", "outcome": outcome}));
        result
    }

    fn sync_steps(&self, steps: &[Value], argument: &Value) -> Result<Value, Interrupt> {
        for step in steps {
            self.sync_step(step, argument)?;
        }
        Ok(Value::Null)
    }

    fn sync_step(&self, step: &Value, argument: &Value) -> Result<(), Interrupt> {
        let own = || Some(self.name.clone());
        let raise = |failure| Err(Interrupt::Raise(failure, Origin::Own, own()));
        if let Some(ms) = step.number("sleep_ms") {
            turns::wait(Duration::from_millis(ms));
        } else if step.field("mark").is_some() {
            self.event(json!({"ev": "mark", "mark": step.text("mark")}));
        } else if let Some(value) = step.field("return") {
            return Err(Interrupt::Return(payload(value)));
        } else if step.field("return_argument").is_some() {
            return Err(Interrupt::Return(argument.clone()));
        } else if let Some(error) = step.field("return_error") {
            return Err(Interrupt::Return(Value::Error(Raised::from(fault::make(
                error,
            )))));
        } else if let Some(error) = step.field("raise") {
            return raise(fault::make(error));
        } else if step.field("cancel").is_some() {
            return raise(HandlerFailure::Cancelled(CancelCause::Handler));
        } else if step.field("stop").is_some() {
            return raise(HandlerFailure::failed(triplane::legacy::StopHook::default()));
        } else if let Some(op) = step.field("do") {
            let outcome = match self.adapter.upgrade().map(|all| all.at_once(&self.run, op)) {
                Some(Some(Ok(value))) => json!({"returned": value}),
                Some(Some(Err(fault))) => json!({"raised": fault.described}),
                // What must be awaited is handed back unawaited by a sync handler.
                Some(None) | None => json!({"returned": {"$awaitable": true}}),
            };
            self.performed(op, &outcome);
        } else {
            panic!("a step that no handler knows: {step:?}");
        }
        Ok(())
    }

    fn performed(&self, op: &Value, outcome: &Json) {
        let event = json!({"ev": "op", "op": op.text("op"), "by": self.name, "outcome": outcome});
        self.run.record(event);
    }

    async fn async_steps(
        &self,
        steps: &[Value],
        argument: &Value,
        scope: &Scope,
    ) -> Result<Value, Interrupt> {
        for step in steps {
            self.async_step(step, argument, scope).await?;
        }
        Ok(Value::Null)
    }

    fn async_step<'a>(
        &'a self,
        step: &'a Value,
        argument: &'a Value,
        scope: &'a Scope,
    ) -> BoxFuture<'a, Result<(), Interrupt>> {
        Box::pin(async move {
            if let Some(ms) = step.number("sleep_ms") {
                tokio::select! {
                    biased;
                    cause = scope.cancelled() => {
                        Err(Interrupt::Raise(HandlerFailure::Cancelled(cause), Origin::Outside, None))
                    }
                    () = sleep(Duration::from_millis(ms)) => Ok(()),
                }
            } else if step.field("try").is_some() {
                let tried = self.async_steps(step.list("try"), argument, scope).await;
                match &tried {
                    Err(Interrupt::Raise(failure, _, _)) if fault::is_cancellation(failure) => {}
                    _ => return tried.map(drop),
                }
                self.async_steps(step.list("on_cancel"), argument, scope)
                    .await?;
                let reraises = step.field("reraise").is_none_or(Value::is_truthy);
                if reraises { tried.map(drop) } else { Ok(()) }
            } else if let Some(op) = step.field("do") {
                let Some(adapter) = self.adapter.upgrade() else {
                    return Ok(());
                };
                let outcome = perform(&self.run, &*adapter, op, scope).await;
                let described = match &outcome {
                    Ok(value) => json!({"returned": value}),
                    Err(fault) => json!({"raised": fault.described}),
                };
                self.performed(op, &described);
                match outcome {
                    Err(fault) if step.flag("propagate") => {
                        let origin = if fault.from_outside {
                            Origin::Outside
                        } else {
                            Origin::Own
                        };
                        let whom = if fault.is_said() {
                            None
                        } else {
                            self.run.last_blamed()
                        };
                        Err(Interrupt::Raise(fault.again(), origin, whom))
                    }
                    Ok(_) | Err(_) => Ok(()),
                }
            } else {
                self.sync_step(step, argument)
            }
        })
    }

    /// The call of the handler. What it must be given later, it holds by itself.
    pub(crate) fn call_with<'a, S: Arguments>(
        &self,
        arguments: &S,
        scope: &'a Scope,
    ) -> Called<'a, Result<Value, HandlerFailure>> {
        let (shown, argument) = (arguments.shown(), arguments.positional());
        let this = self.clone();
        let invoked = move |this: &Self| this.event(json!({"ev": "invoke", "args": shown}));
        match self.form {
            Form::Sync => {
                invoked(self);
                let ended = self.sync_steps(self.spec.list("steps"), &argument);
                Called::Now(self.finish(ended))
            }
            Form::Async => Called::later(async move {
                invoked(&this);
                this.run_async(&argument, scope).await
            }),
            Form::Returning(kind) => {
                invoked(self);
                let called = self.sync_steps(self.spec.list("call_steps"), &argument);
                if let Err(interrupt) = called {
                    return Called::Now(self.finish(Err(interrupt)));
                }
                Called::Later {
                    kind,
                    future: Box::pin(async move {
                        this.event(json!({"ev": "await"}));
                        this.run_async(&argument, scope).await
                    }),
                }
            }
        }
    }

    async fn run_async(&self, argument: &Value, scope: &Scope) -> Result<Value, HandlerFailure> {
        let mut unfinished = Unfinished(Some(self));
        let ended = self
            .async_steps(self.spec.list("steps"), argument, scope)
            .await;
        unfinished.0 = None;
        self.finish(ended)
    }
}

/// A handler that is dropped before its end was cancelled.
struct Unfinished<'a>(Option<&'a Scripted>);

impl Drop for Unfinished<'_> {
    fn drop(&mut self) {
        if let Some(handler) = self.0 {
            handler.event(json!({"ev": "finish", "outcome": {"cancelled": true}}));
        }
    }
}

impl<S: Arguments> Handler<S, Value> for Scripted {
    fn call<'a>(
        &'a self,
        arguments: &'a S,
        scope: &'a Scope,
    ) -> Called<'a, Result<Value, HandlerFailure>> {
        self.call_with(arguments, scope)
    }
}
