//! Random commands against the store and against a simple model of it: after each of them both say
//! the same.
//!
//! The model knows nothing of tables: an intent is a struct in a vector, and the clock is a number.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;

use crate::commit::Confirmation;
use crate::delivery::{DeliveryIntent, DeliveryResult};
use crate::engine::commit::{Committed, Enqueued};
use crate::engine::outbox::{Acknowledgement, IntentSelection, OutboxStatus};
use crate::engine::testing::{Recorder, Rows, START_US, TestStore, fact};
use crate::retry::RetryPolicy;

/// How often a sink may fail, and how long is waited after the first and at most.
const ATTEMPTS_MAX: u32 = 3;
const BASE_S: u64 = 10;
const CAP_S: u64 = 25;

/// What a sink does with an attempt.
#[derive(Debug, Clone, Copy)]
enum Answer {
    Take,
    Fail,
    Lose,
    Refuse,
}

#[derive(Debug, Clone)]
enum Command {
    /// Tells the fact with this number, with a dedup key of these few, for the time that it is worth.
    Enqueue {
        fact: u8,
        dedup: Option<u8>,
        expires_in_s: Option<u8>,
        asks: bool,
    },
    Deliver(Answer),
    /// Shows the token of an earlier attempt of an intent, or one that was never sent.
    Ack {
        intent: usize,
        sent: bool,
    },
    Retry {
        intent: usize,
    },
    Purge {
        intent: usize,
    },
    PurgeAll,
    Wait {
        seconds: u8,
    },
    /// The wall clock jumps; no time passes.
    Jump {
        hours: i8,
    },
}

fn command() -> impl Strategy<Value = Command> {
    let answer = prop_oneof![
        3 => Just(Answer::Take),
        3 => Just(Answer::Fail),
        1 => Just(Answer::Lose),
        1 => Just(Answer::Refuse),
    ];
    let dedup = proptest::option::of(0_u8..4);
    let enqueue = (
        0_u8..12,
        dedup,
        proptest::option::weighted(0.2, 0_u8..60),
        any::<bool>(),
    );
    prop_oneof![
        4 => enqueue.prop_map(|(fact, dedup, expires_in_s, asks)| Command::Enqueue {
            fact, dedup, expires_in_s, asks,
        }),
        5 => answer.prop_map(Command::Deliver),
        2 => (0_usize..8, any::<bool>()).prop_map(|(intent, sent)| Command::Ack { intent, sent }),
        1 => (0_usize..8).prop_map(|intent| Command::Retry { intent }),
        1 => (0_usize..8).prop_map(|intent| Command::Purge { intent }),
        1 => Just(Command::PurgeAll),
        3 => (0_u8..40).prop_map(|seconds| Command::Wait { seconds }),
        1 => (0_i8..4).prop_map(|hours| Command::Jump { hours }),
    ]
}

/// An intent as the model has it.
#[derive(Debug, Clone)]
struct Intent {
    id: String,
    fact: u8,
    status: OutboxStatus,
    attempt: u32,
    answered: u32,
    due_us: i64,
    expires_us: Option<i64>,
    asks: bool,
    purged: bool,
}

#[derive(Default)]
struct Model {
    now_us: i64,
    facts: Vec<u8>,
    intents: Vec<Intent>,
    keys: BTreeMap<u8, usize>,
}

impl Model {
    fn deliver(&mut self, answer: Answer) {
        let mut due: Vec<usize> = (0..self.intents.len())
            .filter(|at| {
                let intent = &self.intents[*at];
                !intent.purged
                    && intent.status == OutboxStatus::Pending
                    && intent.due_us <= self.now_us
            })
            .collect();
        due.sort_by_key(|at| (self.intents[*at].due_us, *at));
        let now_us = self.now_us;
        for at in due {
            let intent = &mut self.intents[at];
            if intent.expires_us.is_some_and(|at_us| at_us <= now_us) {
                intent.status = OutboxStatus::Expired;
                continue;
            }
            intent.attempt += 1;
            match answer {
                Answer::Take if !intent.asks => intent.status = OutboxStatus::Delivered,
                Answer::Refuse => intent.status = OutboxStatus::DeadLetter,
                Answer::Take | Answer::Fail | Answer::Lose => {
                    intent.answered += 1;
                    if intent.answered >= ATTEMPTS_MAX {
                        intent.status = OutboxStatus::DeadLetter;
                    } else {
                        let wait_s = (BASE_S << (intent.answered - 1)).min(CAP_S);
                        intent.due_us = now_us + i64::try_from(wait_s).expect("small") * 1_000_000;
                    }
                }
            }
        }
    }
}

/// The store, and what the sink has told of it.
struct Real {
    test: TestStore,
    /// The tokens that came with each intent.
    tokens: Arc<Mutex<BTreeMap<String, Vec<String>>>>,
}

impl Real {
    async fn deliver(&self, answer: Answer) {
        let tokens = Arc::clone(&self.tokens);
        let sink = Recorder::answering(move |intent: &DeliveryIntent| {
            if let Some(token) = intent.ack_token() {
                let mut tokens = tokens.lock().expect("not poisoned");
                tokens
                    .entry(intent.id().to_owned())
                    .or_default()
                    .push(token.to_owned());
            }
            let error = "as told".to_owned();
            match answer {
                Answer::Take => DeliveryResult::Delivered(None),
                Answer::Fail => DeliveryResult::Retry { error, after: None },
                Answer::Lose => DeliveryResult::Unknown { error },
                Answer::Refuse => DeliveryResult::Reject { reason: error },
            }
        });
        let seconds = Duration::from_secs;
        let retry = RetryPolicy::new(ATTEMPTS_MAX, seconds(BASE_S), seconds(CAP_S)).expect("valid");
        let worker = self.test.store.delivery().retry(retry).sink("sink", sink);
        worker.deliver_due().await.expect("delivers");
    }
}

async fn agree(commands: Vec<Command>) {
    let real = Real {
        test: TestStore::open().await,
        tokens: Arc::default(),
    };
    let mut model = Model {
        now_us: START_US,
        ..Model::default()
    };
    for command in &commands {
        step(&real, &mut model, command).await;
        compare(&real, &model, command, &commands).await;
    }
    assert_eq!(
        real.test.store.check().await.expect("looks"),
        [],
        "{commands:?}"
    );
}

async fn step(real: &Real, model: &mut Model, command: &Command) {
    let store = &real.test.store;
    match command.clone() {
        Command::Enqueue {
            fact: number,
            dedup,
            expires_in_s,
            asks,
        } => {
            let expires_us = expires_in_s.map(|s| model.now_us + i64::from(s) * 1_000_000);
            let mut unit = store.begin(fact(&number.to_string(), "d"));
            unit.stage(&Rows {
                dedup_key: dedup.map(|key| key.to_string()),
                expires_at_us: expires_us,
                confirmation: if asks {
                    Confirmation::ByConsumer
                } else {
                    Confirmation::BySink
                },
                ..Rows::default()
            })
            .expect("stages");
            let committed = unit.commit().await.expect("commits");
            if model.facts.contains(&number) {
                assert!(
                    matches!(committed, Committed::AlreadyRecorded(_)),
                    "{command:?}"
                );
                return;
            }
            model.facts.push(number);
            let Committed::Recorded(receipt) = committed else {
                panic!("{command:?} was not on record");
            };
            let told = &receipt.intents()[0];
            if let Some(first) = dedup.and_then(|key| model.keys.get(&key)) {
                let first = &model.intents[*first];
                let wanted = if first.purged {
                    Enqueued::Purged
                } else {
                    Enqueued::Before
                };
                assert_eq!(
                    (told.id.to_string(), told.enqueued),
                    (first.id.clone(), wanted)
                );
                return;
            }
            assert_eq!(told.enqueued, Enqueued::New);
            if let Some(key) = dedup {
                model.keys.insert(key, model.intents.len());
            }
            model.intents.push(Intent {
                id: told.id.to_string(),
                fact: number,
                status: OutboxStatus::Pending,
                attempt: 0,
                answered: 0,
                due_us: model.now_us,
                expires_us,
                asks,
                purged: false,
            });
        }
        Command::Deliver(answer) => {
            real.deliver(answer).await;
            model.deliver(answer);
        }
        Command::Ack { intent, sent } => {
            let Some(intent) = model.intents.get_mut(intent) else {
                return;
            };
            let tokens = real
                .tokens
                .lock()
                .expect("not poisoned")
                .get(&intent.id)
                .cloned();
            let token = tokens
                .filter(|_| sent)
                .and_then(|tokens| tokens.first().cloned());
            let known = token.is_some();
            let token = token.unwrap_or_else(|| "never sent".to_owned());
            let said = store.acknowledge(&intent.id, &token).await.expect("reads");
            let wanted = match intent.status {
                _ if intent.purged => Acknowledgement::Unknown,
                _ if !intent.asks => Acknowledgement::NotAsked,
                _ if intent.attempt == 0 => Acknowledgement::NotSent,
                _ if !known => Acknowledgement::WrongToken,
                OutboxStatus::Acked => Acknowledgement::Before,
                OutboxStatus::Pending => {
                    intent.status = OutboxStatus::Acked;
                    Acknowledgement::Acked { attempt: 1 }
                }
                status => Acknowledgement::TooLate { status },
            };
            assert_eq!(said, wanted);
        }
        Command::Retry { intent } => {
            let Some(intent) = model.intents.get_mut(intent) else {
                return;
            };
            let named = IntentSelection::new().ids([intent.id.clone()]);
            let report = store.retry(named, None).await.expect("writes");
            let given_up = matches!(
                intent.status,
                OutboxStatus::DeadLetter | OutboxStatus::Expired
            );
            let done = given_up && !intent.purged;
            assert_eq!(report.intents.len(), usize::from(done));
            if done {
                intent.status = OutboxStatus::Pending;
                intent.answered = 0;
                intent.due_us = model.now_us;
                intent.expires_us = intent.expires_us.filter(|at_us| *at_us > model.now_us);
            }
        }
        Command::Purge { intent } => {
            let Some(intent) = model.intents.get_mut(intent) else {
                return;
            };
            let named = IntentSelection::new().ids([intent.id.clone()]);
            let report = store.purge(named, None).await.expect("writes");
            let done = intent.status.is_settled() && !intent.purged;
            assert_eq!(report.intents.len(), usize::from(done));
            intent.purged |= done;
        }
        Command::PurgeAll => {
            let report = store
                .purge(IntentSelection::new(), None)
                .await
                .expect("writes");
            let mut taken = Vec::new();
            for intent in &mut model.intents {
                if intent.status.is_settled() && !intent.purged {
                    intent.purged = true;
                    taken.push(intent.id.clone());
                }
            }
            assert_eq!(report.intents, taken);
        }
        Command::Wait { seconds } => {
            real.test.clock.advance(Duration::from_secs(seconds.into()));
            model.now_us += i64::from(seconds) * 1_000_000;
        }
        Command::Jump { hours } => {
            model.now_us += i64::from(hours) * 3_600_000_000;
            real.test.clock.set(model.now_us);
        }
    }
}

/// Intents, tombstones and the log say the same as the model.
async fn compare(real: &Real, model: &Model, command: &Command, commands: &[Command]) {
    let store = &real.test.store;
    let mut found: Vec<_> = store
        .outbox(None, 99)
        .await
        .expect("reads")
        .into_iter()
        .map(|it| (it.id, it.identity, it.status, it.attempt))
        .collect();
    found.reverse();
    let there = model.intents.iter().filter(|intent| !intent.purged);
    let wanted: Vec<_> = there
        .map(|it| (it.id.clone(), it.fact.to_string(), it.status, it.attempt))
        .collect();
    assert_eq!(found, wanted, "after {command:?} of {commands:?}");
    let purged = model.intents.iter().filter(|intent| intent.purged).count();
    let tombstones = real.test.count("outbox_tombstone").await;
    assert_eq!(usize::try_from(tombstones), Ok(purged));
    let log = store.signals(Some("s1"), 0, 99).await.expect("reads");
    let log: Vec<_> = log
        .iter()
        .map(|it| (it.sequence, it.identity.clone()))
        .collect();
    let facts = (1_u64..).zip(model.facts.iter().map(ToString::to_string));
    assert_eq!(log, facts.collect::<Vec<_>>());
}

proptest! {
    #![proptest_config(Config { cases: 48, failure_persistence: None, ..Config::default() })]

    #[test]
    fn the_store_does_what_its_model_does(commands in proptest::collection::vec(command(), 1..30)) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .expect("a runtime");
        runtime.block_on(agree(commands));
    }
}
