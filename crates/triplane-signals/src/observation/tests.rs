use std::sync::Mutex;

use serde_json::value::RawValue;
use uuid::Uuid;

use super::*;
use crate::signal::{EmitterRole, Payload, SignalKind};

fn signal(kind: SignalKind, session: &str) -> Arc<Signal> {
    Arc::new(Signal {
        id: Uuid::now_v7(),
        kind,
        session: session.to_owned(),
        sequence: Some(1),
        occurred_at_us: 0,
        emitter: EmitterRole::Owner,
        invocation: None,
        payload: Payload {
            payload_type: "test".to_owned(),
            version: 1,
            body: RawValue::from_string("{}".to_owned()).expect("JSON").into(),
        },
    })
}

/// An observation whose observers write down what they hear.
#[derive(Default)]
struct Heard {
    observation: SessionObservation,
    log: Arc<Mutex<Vec<String>>>,
}

impl Heard {
    fn observe(&self, name: &'static str, filter: SignalFilter) -> Observer {
        let log = Arc::clone(&self.log);
        let write = move |signal: &Signal| {
            log.lock()
                .expect("the log")
                .push(format!("{name}:{}", signal.kind.as_str()));
        };
        self.observation
            .observe(name, filter, write)
            .expect("a name")
    }

    async fn emit(&self, kind: SignalKind, session: &str) -> DispatchReport<()> {
        self.observation
            .emit(&signal(kind, session), &Scope::new())
            .await
            .expect("a report")
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().expect("the log"))
    }
}

#[tokio::test]
async fn filters_pick_by_kind_family_role_and_session() {
    let heard = Heard::default();
    heard.observe("all", SignalFilter::any());
    heard.observe("denials", SignalFilter::kind(SignalKind::OperationDenied));
    heard.observe(
        "operations",
        SignalFilter::family_of(SignalKind::OperationDenied),
    );
    heard.observe("mine", SignalFilter::any().in_session("mine"));
    heard.observe("provider", SignalFilter::any().by(EmitterRole::Provider));
    heard.emit(SignalKind::OperationDenied, "mine").await;
    let wanted =
        ["all", "denials", "operations", "mine"].map(|name| format!("{name}:operation.denied"));
    assert_eq!(heard.take(), wanted);
    heard.emit(SignalKind::ProviderObserved, "other").await;
    assert_eq!(heard.take(), ["all:provider.observed"]);
}

#[tokio::test]
async fn an_observer_that_panics_silences_nobody() {
    let heard = Heard::default();
    heard.observe("first", SignalFilter::any());
    heard
        .observation
        .observe("broken", SignalFilter::any(), |_| panic!("no screen"))
        .expect("a name");
    heard.observe("last", SignalFilter::any());
    let report = heard.emit(SignalKind::OperationAllowed, "s").await;
    assert_eq!(
        heard.take(),
        ["first:operation.allowed", "last:operation.allowed"]
    );
    let failures: Vec<String> = report
        .failures()
        .map(|(name, failure)| format!("{name} {failure}"))
        .collect();
    assert_eq!(failures, ["broken panicked: no screen"]);
}

#[tokio::test]
async fn a_removed_observer_hears_nothing_more() {
    let heard = Heard::default();
    let observer = heard.observe("once", SignalFilter::any());
    assert!(heard.observation.unobserve(&observer));
    assert!(!heard.observation.unobserve(&observer));
    assert!(
        heard
            .emit(SignalKind::OperationAllowed, "s")
            .await
            .is_empty()
    );
    assert!(heard.take().is_empty());
}
