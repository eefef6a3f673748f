//! A million registrations beside a thousand, of which eight match.

use std::hint::black_box;

use triplane_kernel::policy::DispatchConcurrency;
use triplane_kernel::{FanoutDispatcher, Key};

use crate::fanout::{Kind, Signal, emitting, policy, registration};
use crate::measure::{Bound, Case, Subject};

const MANY: usize = 1_000_000;
const FEW: usize = 1_000;
/// Registrations under one key.
const MATCHING: usize = 8;

/// The cases of this group.
pub fn cases() -> Vec<Case> {
    vec![
        Case {
            name: "emit, 8 of 1,000,000 match / 8 of 1,000",
            n: MANY,
            subject: emitting(filled(MANY), key(MANY / MATCHING / 2)),
            limit: emitting(filled(FEW), key(FEW / MATCHING / 2)),
            goal: Bound::Times(1.2),
            must: Bound::Times(1.5),
        },
        Case {
            name: "register and remove, 1,000,000 present / 2 us",
            n: MANY,
            subject: change(filled(MANY)),
            limit: two_microseconds(),
            goal: Bound::Times(2.0),
            must: Bound::Times(50.0),
        },
    ]
}

fn key(index: usize) -> Key {
    Key::new(format!("kind.{index}"))
}

fn filled(count: usize) -> FanoutDispatcher<Signal> {
    let dispatcher = FanoutDispatcher::new(policy(DispatchConcurrency::Sequential, None));
    for index in 0..count {
        dispatcher.register(registration(index, Kind::Sync).on(key(index / MATCHING)));
    }
    dispatcher
}

fn change(dispatcher: FanoutDispatcher<Signal>) -> Subject {
    Box::new(move |iterations| {
        for index in 0..iterations {
            #[expect(
                clippy::cast_possible_truncation,
                reason = "an index of a key, wrapped"
            )]
            let key = key(index as usize % (MANY / MATCHING));
            let id = dispatcher.register(registration(0, Kind::Sync).on(key));
            black_box(dispatcher.remove(id));
        }
    })
}

/// A limit in time instead of one that is measured: two changes of a microsecond each.
fn two_microseconds() -> Subject {
    Box::new(|iterations| {
        for _ in 0..iterations {
            let began = std::time::Instant::now();
            while began.elapsed().as_nanos() < 2_000 {
                std::hint::spin_loop();
            }
        }
    })
}
