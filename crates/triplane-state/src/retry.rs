//! When a failed delivery is tried again, and when no more.

use std::time::Duration;

/// Exponential backoff with a cap and a bound on the attempts (ADR-0059).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    attempts_max: u32,
    base: Duration,
    cap: Duration,
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
        })
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
}

impl Default for RetryPolicy {
    /// Eight attempts, 30 s doubling up to 30 min: the bounds of ADR-0059.
    fn default() -> Self {
        Self {
            attempts_max: 8,
            base: Duration::from_secs(30),
            cap: Duration::from_mins(30),
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
    fn no_attempt_number_overflows() {
        let policy =
            RetryPolicy::new(u32::MAX, Duration::from_secs(1), Duration::MAX).expect("valid");
        assert_eq!(
            policy.wait_after(u32::MAX - 1),
            Some(Duration::from_secs(1 << 31))
        );
    }
}
