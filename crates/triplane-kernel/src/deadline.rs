//! One shared budget of time.

use std::fmt;
use std::time::Duration;

/// The longest deadline that is accepted. Beyond it a deadline is a mistake in the unit.
pub const DEADLINE_MAX: Duration = Duration::from_hours(365 * 24);

/// A finite budget that everything under it shares: not a fresh one for each handler.
///
/// Waiting for a turn counts. It is kept in seconds as it was declared, so that a policy digests to
/// the same bytes wherever it is read.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deadline {
    seconds: f64,
}

/// Why a number is not a deadline.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeadlineRefused {
    /// The number is infinite or not a number.
    #[error("a deadline of {seconds:?} s is not finite")]
    NotFinite {
        /// The refused number.
        seconds: f64,
    },
    /// The number is zero, negative, or below one nanosecond.
    #[error("a deadline of {seconds:?} s is not positive")]
    NotPositive {
        /// The refused number.
        seconds: f64,
    },
    /// The number is above [`DEADLINE_MAX`].
    #[error("a deadline of {seconds:?} s is longer than {DEADLINE_MAX:?}")]
    TooLong {
        /// The refused number.
        seconds: f64,
    },
}

impl Deadline {
    /// Checks a number of seconds and makes it a deadline.
    ///
    /// # Errors
    ///
    /// Returns [`DeadlineRefused`] when the number is not finite, not positive or too large.
    pub fn from_secs(seconds: f64) -> Result<Self, DeadlineRefused> {
        if !seconds.is_finite() {
            return Err(DeadlineRefused::NotFinite { seconds });
        }
        if seconds <= 0.0 {
            return Err(DeadlineRefused::NotPositive { seconds });
        }
        match Duration::try_from_secs_f64(seconds) {
            Ok(Duration::ZERO) => Err(DeadlineRefused::NotPositive { seconds }),
            Ok(duration) if duration <= DEADLINE_MAX => Ok(Self { seconds }),
            Ok(_) | Err(_) => Err(DeadlineRefused::TooLong { seconds }),
        }
    }

    /// A deadline known at compile time, of 1 to 31,536,000 seconds.
    ///
    /// # Panics
    ///
    /// When the number is out of that range; in a constant, at compile time.
    pub const fn whole_secs(seconds: u32) -> Self {
        assert!(seconds > 0 && seconds as u64 <= DEADLINE_MAX.as_secs());
        Self {
            seconds: seconds as f64,
        }
    }

    /// The budget in seconds, as declared.
    pub fn as_secs(self) -> f64 {
        self.seconds
    }

    /// The budget.
    pub fn duration(self) -> Duration {
        Duration::from_secs_f64(self.seconds)
    }
}

/// A deadline is finite, so its equality is total.
impl Eq for Deadline {}

impl fmt::Display for Deadline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} s", self.seconds)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(seconds: f64, wanted: &str) {
        let got = match Deadline::from_secs(seconds) {
            Ok(deadline) => format!("{:?}", deadline.duration()),
            Err(refused) => refused.to_string(),
        };
        assert_eq!(got, wanted);
    }

    #[test]
    fn a_deadline_is_finite_positive_and_not_absurd() {
        check(0.2, "200ms");
        check(1e-9, "1ns");
        check(1e-12, "a deadline of 1e-12 s is not positive");
        check(0.0, "a deadline of 0.0 s is not positive");
        check(-1.0, "a deadline of -1.0 s is not positive");
        check(f64::NAN, "a deadline of NaN s is not finite");
        check(f64::INFINITY, "a deadline of inf s is not finite");
        check(1e300, "a deadline of 1e300 s is longer than 31536000s");
        check(31_536_000.0, "31536000s");
        check(
            31_536_001.0,
            "a deadline of 31536001.0 s is longer than 31536000s",
        );
    }
}
