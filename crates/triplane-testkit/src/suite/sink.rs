//! What every delivery sink keeps, wherever it conveys to.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use triplane_state::clock::ManualClock;
use triplane_state::delivery::{DeliveryIntent, DeliveryResult, DeliverySink, SinkDeclaration};
use triplane_state::{OutboxStatus, Store, StoreOptions};

use crate::suite::fact::{Told, fact};

/// How long a sink may take for a batch before the suite calls it hung.
pub const PATIENCE: Duration = Duration::from_mins(1);

/// What is conveyed: payloads that have broken somebody, each one JSON value.
pub const PAYLOADS: &[&str] = &[
    "null",
    r#"{"plain":"text"}"#,
    r#""quotes \" and ' and ` and $(x) and ;|&\n\t""#,
    r#""nul \u0000, escape \u001b, line \u2028, astral \ud83d\ude80""#,
    "[9007199254740993,-9223372036854775808,18446744073709551615,1e400,-0.0]",
    "{ \"white\" :\n [ 1 ,\r\n 2 ] }",
];

/// Holds a sink that can convey against its contract, through a delivery worker over a store that is
/// made at `path`.
///
/// 1. It declares the same whenever it is asked.
/// 2. It answers each intent of a batch, in order and within [`PATIENCE`], and does not panic.
/// 3. Whatever the payload, the answer is `Delivered` or `Reject`: a sink that can convey does not
///    try for ever what it cannot take.
/// 4. A send that is dropped harms none that comes after it.
/// 5. An intent that comes again, under the same key and the next number, is answered as well.
///
/// # Panics
///
/// When the sink breaks one of these; the message says which.
///
/// # Cancel safety
///
/// Dropping the future ends the check; the store at `path` is left behind.
pub async fn check(sink: Arc<dyn DeliverySink>, path: &Path) {
    let declared = sink.declaration();
    assert_eq!(
        sink.declaration(),
        declared,
        "a sink declares the same whenever it is asked"
    );
    let clock = Arc::new(ManualClock::at(1_000_000));
    let options = StoreOptions::new(path).clock(clock.clone());
    let store = Store::open(options).await.expect("a store at the path");
    for (number, payload) in PAYLOADS.iter().enumerate() {
        let mut unit = store.begin(fact("suite", &number.to_string(), payload));
        unit.stage(&Told { sink: "suite" }).expect("stages");
        let _committed = unit.commit().await.expect("commits");
    }
    let watched = Arc::new(Watched {
        sink,
        round: Mutex::new(Round::Dropped),
        faults: Mutex::default(),
    });
    let worker = || {
        store
            .delivery()
            .sink("suite", Arc::clone(&watched) as Arc<dyn DeliverySink>)
    };
    for round in [Round::Dropped, Round::Unheard, Round::Heard] {
        *watched.round() = round;
        worker().deliver_due().await.expect("the store works");
        clock.advance(Duration::from_hours(1));
    }
    let faults = watched.take_faults();
    assert!(faults.is_empty(), "{faults:#?}");
    for entry in store.outbox(None, 100).await.expect("reads") {
        assert!(
            matches!(
                entry.status,
                OutboxStatus::Delivered | OutboxStatus::DeadLetter
            ),
            "{entry:?}"
        );
        assert!(entry.attempt >= 2, "each intent came again: {entry:?}");
    }
    store.close().await.expect("closes");
}

/// What the suite does with the answers of a round.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// The send is dropped after its first step.
    Dropped,
    /// It is sent, and the answer is lost, as with a process that dies.
    Unheard,
    /// It is sent and settled.
    Heard,
}

struct Watched {
    sink: Arc<dyn DeliverySink>,
    round: Mutex<Round>,
    faults: Mutex<Vec<String>>,
}

impl Watched {
    fn round(&self) -> std::sync::MutexGuard<'_, Round> {
        self.round.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take_faults(&self) -> Vec<String> {
        let mut faults = self.faults.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut *faults)
    }

    fn fault(&self, says: String) {
        self.faults
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(says);
    }

    async fn send(&self, intents: &[DeliveryIntent]) -> Vec<DeliveryResult> {
        let lost = || {
            let error = "lost by the suite".to_owned();
            vec![DeliveryResult::Unknown { error }; intents.len()]
        };
        let round = *self.round();
        if round == Round::Dropped {
            let mut send = self.sink.deliver_batch(intents);
            // Whether it was ready at once does not matter: its answer is dropped with it.
            drop((&mut send).now_or_never());
            return lost();
        }
        let send = std::panic::AssertUnwindSafe(self.sink.deliver_batch(intents)).catch_unwind();
        let answers = match tokio::time::timeout(PATIENCE, send).await {
            Ok(Ok(answers)) => answers,
            Ok(Err(_panic)) => {
                self.fault("the sink panicked".to_owned());
                return lost();
            }
            Err(_elapsed) => {
                self.fault(format!("no answer within {PATIENCE:?}"));
                return lost();
            }
        };
        if answers.len() != intents.len() {
            self.fault(format!(
                "{} answers to {} intents",
                answers.len(),
                intents.len()
            ));
        }
        for (intent, answer) in intents.iter().zip(&answers) {
            let settles = matches!(
                answer,
                DeliveryResult::Delivered(_) | DeliveryResult::Reject { .. }
            );
            if !settles {
                self.fault(format!("{}: {answer:?}", intent.payload()));
            }
        }
        if round == Round::Heard {
            answers
        } else {
            lost()
        }
    }
}

impl DeliverySink for Watched {
    fn declaration(&self) -> SinkDeclaration {
        self.sink.declaration()
    }

    fn deliver<'a>(&'a self, intent: &'a DeliveryIntent) -> BoxFuture<'a, DeliveryResult> {
        async move {
            let answers = self.send(std::slice::from_ref(intent)).await;
            answers
                .into_iter()
                .next()
                .unwrap_or(DeliveryResult::Unknown {
                    error: "no answer".to_owned(),
                })
        }
        .boxed()
    }

    fn deliver_batch<'a>(
        &'a self,
        intents: &'a [DeliveryIntent],
    ) -> BoxFuture<'a, Vec<DeliveryResult>> {
        self.send(intents).boxed()
    }
}
