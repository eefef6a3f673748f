//! When a failed delivery is tried again, and when no more.

use std::time::Duration;

/// Exponential backoff with a cap and a bound on the attempts (ADR-0059).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    attempts_max: u32,
    base: Duration,
    cap: Duration,
    jitter_percent: u8,
}

/// Why a retry policy cannot be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RetryRefused {
    /// No attempt would ever be made.
    #[error("attempts_max must be at least 1")]
    NoAttempt,
    /// The first wait is longer than the longest.
    #[error("base {base:?} is longer than cap {cap:?}")]
    BaseAboveCap {
        /// The first wait.
        base: Duration,
        /// The longest wait.
        cap: Duration,
    },
    /// More than all of a wait would be taken off.
    #[error("jitter of {percent} % is more than 100 %")]
    JitterAboveAll {
        /// What was asked for.
        percent: u8,
    },
}

impl RetryPolicy {
    /// A policy with these bounds.
    ///
    /// # Errors
    ///
    /// [`RetryRefused::NoAttempt`] for zero attempts, [`RetryRefused::BaseAboveCap`] when the
    /// first wait is longer than the longest.
    pub fn new(attempts_max: u32, base: Duration, cap: Duration) -> Result<Self, RetryRefused> {
        if attempts_max == 0 {
            return Err(RetryRefused::NoAttempt);
        }
        if base > cap {
            return Err(RetryRefused::BaseAboveCap { base, cap });
        }
        Ok(Self {
            attempts_max,
            base,
            cap,
            jitter_percent: 0,
        })
    }

    /// Shortens waits by up to `percent`, for each intent and attempt by another part, so that what
    /// failed together is not tried again at the same moment. 0 by default.
    ///
    /// # Errors
    ///
    /// [`RetryRefused::JitterAboveAll`] above 100.
    pub fn jitter(mut self, percent: u8) -> Result<Self, RetryRefused> {
        if percent > 100 {
            return Err(RetryRefused::JitterAboveAll { percent });
        }
        self.jitter_percent = percent;
        Ok(self)
    }

    /// How many attempts a sink may answer with a failure, the first included. An attempt that ends
    /// with the death of its process does not count.
    pub fn attempts_max(&self) -> u32 {
        self.attempts_max
    }

    /// The wait after attempt number `attempt` (from 1), or `None` when that was the last one.
    ///
    /// Never overflows, whatever the number.
    pub fn wait_after(&self, attempt: u32) -> Option<Duration> {
        if attempt >= self.attempts_max {
            return None;
        }
        let doublings = attempt.saturating_sub(1).min(31);
        Some(self.base.saturating_mul(1 << doublings).min(self.cap))
    }

    /// The wait after attempt number `attempt` with the jitter of `seed`: the same for the same
    /// seed and number, at most [`wait_after`](Self::wait_after).
    pub fn wait_after_with(&self, attempt: u32, seed: u64) -> Option<Duration> {
        let wait = self.wait_after(attempt)?;
        let part = spread(seed ^ (u64::from(attempt) << 32)) % 10_001;
        let off = u128::from(self.jitter_percent) * u128::from(part);
        let off_nanos = wait.as_nanos().saturating_mul(off) / 1_000_000;
        let off = Duration::from_nanos(u64::try_from(off_nanos).unwrap_or(u64::MAX));
        Some(wait.saturating_sub(off))
    }

    /// The longest time from the first attempt to the last: every wait, and `attempt` for each
    /// attempt. A destination that forgets keys sooner may take an intent twice.
    pub fn horizon(&self, attempt: Duration) -> Duration {
        let mut total = attempt.saturating_mul(self.attempts_max);
        for number in 1..self.attempts_max {
            let wait = self.wait_after(number).unwrap_or_default();
            if number > 31 || wait == self.cap {
                let left = self.attempts_max - number;
                return total.saturating_add(wait.saturating_mul(left));
            }
            total = total.saturating_add(wait);
        }
        total
    }
}

/// Spreads neighbouring numbers over all (the finalizer of `SplitMix64`).
const fn spread(seed: u64) -> u64 {
    let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

impl Default for RetryPolicy {
    /// Eight attempts, 30 s doubling up to 30 min: the bounds of ADR-0059.
    fn default() -> Self {
        Self {
            attempts_max: 8,
            base: Duration::from_secs(30),
            cap: Duration::from_mins(30),
            jitter_percent: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_the_cap_and_end_at_the_bound() {
        let policy = RetryPolicy::default();
        let waits: Vec<_> = (1..=8)
            .map(|n| policy.wait_after(n).map(|d| d.as_secs()))
            .collect();
        let wanted = [30, 60, 120, 240, 480, 960, 1800]
            .map(Some)
            .into_iter()
            .chain([None]);
        assert_eq!(waits, wanted.collect::<Vec<_>>());
    }

    #[test]
    fn the_horizon_is_every_wait_and_every_attempt() {
        let policy = RetryPolicy::default();
        let waits: Duration = (1..8).filter_map(|n| policy.wait_after(n)).sum();
        let attempt = Duration::from_secs(15);
        assert_eq!(policy.horizon(attempt), waits + attempt * 8);
        let once = RetryPolicy::new(1, attempt, attempt).expect("valid");
        assert_eq!(once.horizon(attempt), attempt);
        let endless = RetryPolicy::new(u32::MAX, Duration::ZERO, Duration::MAX).expect("valid");
        assert_eq!(endless.horizon(Duration::ZERO), Duration::ZERO);
    }

    proptest::proptest! {
        #[test]
        fn every_wait_is_within_the_cap_and_jitter_only_shortens(
            attempts_max in 1_u32..,
            attempt: u32,
            base_us: u64,
            more_us: u64,
            percent in 0_u8..=100,
            seed: u64,
        ) {
            let base = Duration::from_micros(base_us);
            let cap = base.saturating_add(Duration::from_micros(more_us));
            let policy = RetryPolicy::new(attempts_max, base, cap).expect("valid");
            let policy = policy.jitter(percent).expect("valid");
            let wait = policy.wait_after(attempt);
            proptest::prop_assert_eq!(wait.is_none(), attempt >= attempts_max);
            let spread = policy.wait_after_with(attempt, seed);
            proptest::prop_assert_eq!(spread, policy.wait_after_with(attempt, seed));
            if let (Some(wait), Some(spread)) = (wait, spread) {
                proptest::prop_assert!(base <= wait && wait <= cap);
                let least = wait.as_nanos() * u128::from(100 - percent) / 100;
                proptest::prop_assert!(spread <= wait && spread.as_nanos() >= least.saturating_sub(1));
            }
            proptest::prop_assert!(policy.horizon(base) >= base);
        }
    }

    #[test]
    fn no_attempt_number_overflows() {
        let policy =
            RetryPolicy::new(u32::MAX, Duration::from_secs(1), Duration::MAX).expect("valid");
        assert_eq!(
            policy.wait_after(u32::MAX - 1),
            Some(Duration::from_secs(1 << 31))
        );
    }
}
