//! Rounds: limits and subjects take turns, and each figure is a median.

use std::time::{Duration, Instant};

use crate::Asked;

/// How many rounds there are, and how long a turn takes.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Rounds {
    pub(crate) count: usize,
    pub(crate) turn: Duration,
}

impl Rounds {
    pub(crate) fn of(asked: Asked) -> Self {
        if asked.quick {
            Self {
                count: 3,
                turn: Duration::from_millis(60),
            }
        } else {
            Self {
                count: 15,
                turn: Duration::from_millis(150),
            }
        }
    }
}

/// One turn: answers operations per second.
pub(crate) type Turn<'t> = Box<dyn FnMut() -> anyhow::Result<f64> + 't>;

/// The rates of every turn, a list of rounds for each.
#[derive(Debug)]
pub(crate) struct Rates(Vec<Vec<f64>>);

/// Gives each of `turns` its turn in every round, forth and back.
pub(crate) fn take_turns(count: usize, turns: &mut [Turn<'_>]) -> anyhow::Result<Rates> {
    let mut rates = vec![Vec::with_capacity(count); turns.len()];
    // What is compiled, allocated and made at the first time is not what is measured.
    for turn in turns.iter_mut() {
        turn()?;
    }
    for round in 0..count {
        let mut order: Vec<usize> = (0..turns.len()).collect();
        if round % 2 == 1 {
            order.reverse();
        }
        for index in order {
            rates[index].push(turns[index]()?);
        }
    }
    Ok(Rates(rates))
}

impl Rates {
    /// The median rate of a turn.
    pub(crate) fn rate(&self, turn: usize) -> f64 {
        median(self.0[turn].clone())
    }

    /// The median of the ratios of two turns within the same rounds.
    pub(crate) fn ratio(&self, turn: usize, to: usize) -> f64 {
        let pairs = self.0[turn].iter().zip(&self.0[to]);
        median(pairs.map(|(rate, limit)| rate / limit).collect())
    }
}

fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// The value below which `share` of `values` lie.
pub(crate) fn quantile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a place in a list of a few hundred"
    )]
    let at = ((values.len() - 1) as f64 * share).ceil() as usize;
    values[at]
}

/// Runs `once` for the length of a turn; it answers how many operations it has done.
pub(crate) fn for_a_turn(
    turn: Duration,
    mut once: impl FnMut() -> anyhow::Result<u32>,
) -> anyhow::Result<f64> {
    let began = Instant::now();
    let mut done = 0_u32;
    while began.elapsed() < turn {
        done += once()?;
    }
    Ok(per_second(done, began.elapsed()))
}

pub(crate) fn per_second(done: u32, took: Duration) -> f64 {
    f64::from(done) / took.as_secs_f64()
}
