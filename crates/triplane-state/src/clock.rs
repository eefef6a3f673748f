//! Wall-clock stamps: what the stored times are read from.
//!
//! Waits and deadlines never use these clocks; they are monotonic. A stamp is microseconds since
//! 1970 UTC.

use std::fmt;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::{Duration, SystemTime};

/// A source of wall-clock stamps.
pub trait Clock: Send + Sync + fmt::Debug {
    /// Now, in microseconds since 1970 UTC.
    fn now_us(&self) -> i64;
}

/// The clock of the machine, kept from running backwards within one process.
///
/// When the machine's clock is set back, stamps stand still until it has caught up, so that rows
/// written one after the other never seem to be written in the opposite order.
#[derive(Debug, Default)]
pub struct SystemClock {
    latest_us: AtomicI64,
}

impl SystemClock {
    /// The clock of the machine.
    pub const fn new() -> Self {
        Self {
            latest_us: AtomicI64::new(0),
        }
    }
}

impl Clock for SystemClock {
    fn now_us(&self) -> i64 {
        let since_epoch = SystemTime::now()
            .duration_since(SystemTime::UNIX_EPOCH)
            .unwrap_or_default();
        let now_us = micros(since_epoch);
        self.latest_us
            .fetch_max(now_us, Ordering::Relaxed)
            .max(now_us)
    }
}

/// A clock that only moves when it is told to.
#[derive(Debug)]
pub struct ManualClock {
    now_us: AtomicI64,
}

impl ManualClock {
    /// A clock that shows `now_us`, microseconds since 1970 UTC.
    pub const fn at(now_us: i64) -> Self {
        Self {
            now_us: AtomicI64::new(now_us),
        }
    }

    /// Moves the clock forward.
    pub fn advance(&self, by: Duration) {
        self.now_us.fetch_add(micros(by), Ordering::Relaxed);
    }

    /// Sets the clock, backwards too: a jump of the machine's clock.
    pub fn set(&self, now_us: i64) {
        self.now_us.store(now_us, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_us(&self) -> i64 {
        self.now_us.load(Ordering::Relaxed)
    }
}

/// A duration in whole microseconds, at most [`i64::MAX`].
pub(crate) fn micros(duration: Duration) -> i64 {
    i64::try_from(duration.as_micros()).unwrap_or(i64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_clock_never_runs_backwards() {
        let clock = SystemClock {
            latest_us: AtomicI64::new(i64::MAX - 1),
        };
        assert_eq!(clock.now_us(), i64::MAX - 1);
    }

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let clock = ManualClock::at(5);
        assert_eq!(clock.now_us(), 5);
        clock.advance(Duration::from_micros(7));
        assert_eq!(clock.now_us(), 12);
        clock.set(1);
        assert_eq!(clock.now_us(), 1);
    }
}
