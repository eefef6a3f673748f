//! Signals by themselves: facts are announced to observers; no store stands behind them.

use std::error::Error;
use std::sync::{Arc, Mutex};

use futures::executor::block_on;
use serde_json::value::to_raw_value;
use triplane_kernel::Scope;
use triplane_signals::{
    EmitterRole, Payload, SessionObservation, Signal, SignalFilter, SignalKind,
};
use uuid::Uuid;

fn signal(kind: SignalKind) -> Result<Arc<Signal>, serde_json::Error> {
    Ok(Arc::new(Signal {
        id: Uuid::now_v7(),
        kind,
        session: "s1".to_owned(),
        sequence: None,
        occurred_at_us: 0,
        emitter: EmitterRole::Owner,
        invocation: None,
        payload: Payload {
            payload_type: "example".to_owned(),
            version: 1,
            body: to_raw_value(&kind.as_str())?.into(),
        },
    }))
}

fn main() -> Result<(), Box<dyn Error>> {
    // The panic below is meant; its message would only alarm whoever runs this.
    std::panic::set_hook(Box::new(|_| {}));
    let observation = SessionObservation::new();
    let heard = Arc::new(Mutex::new(Vec::new()));
    let log = Arc::clone(&heard);
    let denials = SignalFilter::kind(SignalKind::OperationDenied);
    observation.observe("panics", SignalFilter::any(), |_| {
        panic!("an observer's own fault")
    })?;
    let observer = observation.observe("denials", denials, move |signal| {
        log.lock().expect("the log").push(signal.kind);
    })?;
    for kind in [SignalKind::OperationAllowed, SignalKind::OperationDenied] {
        let report = block_on(observation.emit(&signal(kind)?, &Scope::new()))?;
        assert_eq!(
            report.failures().count(),
            1,
            "the panic is isolated and told"
        );
    }
    assert_eq!(
        *heard.lock().expect("the log"),
        [SignalKind::OperationDenied]
    );
    assert!(observation.unobserve(&observer));
    println!("signals: one of two facts was asked for and heard");
    Ok(())
}
