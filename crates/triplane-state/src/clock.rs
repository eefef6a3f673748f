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

    /// The time since the machine was started, in microseconds, if that can be told: the same for
    /// every process on it, sleep included, and set by nobody. Ends of leases are measured with it,
    /// so that a jump of the wall clock ends none.
    fn boot_us(&self) -> Option<i64> {
        None
    }
}

/// How far the machine's clock may go back without being followed.
const STEP_BACK_US: i64 = 1_000_000;

/// The clock of the machine, kept from running backwards by a little within one process.
///
/// When the machine's clock is set back by up to a second, as time services do, stamps stand still
/// until it has caught up, so that rows written one after the other do not seem to be written in the
/// opposite order. A larger jump is followed: a program that kept the wrong time would make every
/// wait longer by that much. What was written before such a jump waits no longer for it either:
/// [delivery](crate::delivery) counts the waits of rows from the future anew.
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
        self.at(micros(since_epoch))
    }

    #[cfg(feature = "sqlite")]
    fn boot_us(&self) -> Option<i64> {
        let since_boot = rustix::time::clock_gettime(rustix::time::ClockId::Boottime);
        let seconds = since_boot.tv_sec.checked_mul(1_000_000)?;
        seconds.checked_add(since_boot.tv_nsec / 1_000)
    }
}

impl SystemClock {
    /// The stamp when the machine's clock shows `wall_us`.
    fn at(&self, wall_us: i64) -> i64 {
        let latest_us = self.latest_us.fetch_max(wall_us, Ordering::Relaxed);
        if wall_us >= latest_us || latest_us - wall_us <= STEP_BACK_US {
            return latest_us.max(wall_us);
        }
        self.latest_us.store(wall_us, Ordering::Relaxed);
        wall_us
    }
}

/// A clock that only moves when it is told to.
#[derive(Debug)]
pub struct ManualClock {
    now_us: AtomicI64,
    boot_us: AtomicI64,
}

impl ManualClock {
    /// A clock that shows `now_us`, microseconds since 1970 UTC.
    pub const fn at(now_us: i64) -> Self {
        Self {
            now_us: AtomicI64::new(now_us),
            boot_us: AtomicI64::new(0),
        }
    }

    /// Lets time pass.
    pub fn advance(&self, by: Duration) {
        self.boot_us.fetch_add(micros(by), Ordering::Relaxed);
        self.now_us.fetch_add(micros(by), Ordering::Relaxed);
    }

    /// Sets the clock, backwards too: a jump of the machine's clock, in which no time passes.
    pub fn set(&self, now_us: i64) {
        self.now_us.store(now_us, Ordering::Relaxed);
    }
}

impl Clock for ManualClock {
    fn now_us(&self) -> i64 {
        self.now_us.load(Ordering::Relaxed)
    }

    fn boot_us(&self) -> Option<i64> {
        Some(self.boot_us.load(Ordering::Relaxed))
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
    fn the_system_clock_holds_small_steps_back_and_follows_large_ones() {
        let clock = SystemClock::new();
        let stamps = [
            7_000_000, 6_000_000, 6_500_000, 8_000_000, 6_999_999, 7_000_000,
        ];
        let seen = stamps.map(|wall_us| clock.at(wall_us));
        assert_eq!(
            seen,
            [
                7_000_000, 7_000_000, 7_000_000, 8_000_000, 6_999_999, 7_000_000
            ]
        );
    }

    #[cfg(feature = "sqlite")]
    #[test]
    fn the_time_since_the_start_of_the_machine_rises() {
        let clock = SystemClock::new();
        let (one, other) = (clock.boot_us(), clock.boot_us());
        assert!(one > Some(0) && other >= one, "{one:?} {other:?}");
    }

    #[test]
    fn a_manual_clock_moves_only_when_told() {
        let clock = ManualClock::at(5);
        assert_eq!(clock.now_us(), 5);
        clock.advance(Duration::from_micros(7));
        assert_eq!(clock.now_us(), 12);
        clock.set(1);
        assert_eq!((clock.now_us(), clock.boot_us()), (1, Some(7)));
    }
}
