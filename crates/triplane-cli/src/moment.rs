//! Moments on the command line.

use std::str::FromStr as _;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// A moment, in microseconds since 1970 UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Moment(i64);

impl Moment {
    pub(crate) fn us(self) -> i64 {
        self.0
    }
}

/// Reads a moment: a date, a time with its zone, or how long ago it was.
pub(crate) fn parse_moment(text: &str) -> Result<Moment, String> {
    moment_at(text, Timestamp::now()).ok_or_else(|| {
        "a moment is wanted, such as 2026-11-01, 2026-11-01T12:00:00Z, or an age such as 30d, 12h, \
         15m, 90s"
            .to_owned()
    })
}

fn moment_at(text: &str, now: Timestamp) -> Option<Moment> {
    if let Some((number, seconds)) = age(text) {
        let ago_us = number.checked_mul(seconds)?.checked_mul(1_000_000)?;
        return Some(Moment(now.as_microsecond().checked_sub(ago_us)?));
    }
    if let Ok(date) = Date::from_str(text)
        && text.len() == "2026-11-01".len()
    {
        let start = TimeZone::UTC.to_timestamp(date.at(0, 0, 0, 0)).ok()?;
        return Some(Moment(start.as_microsecond()));
    }
    let moment = Timestamp::from_str(text).ok()?;
    Some(Moment(moment.as_microsecond()))
}

/// A number and the seconds of its unit.
fn age(text: &str) -> Option<(i64, i64)> {
    let (at, unit) = text.char_indices().last()?;
    let seconds = match unit {
        'd' => 24 * 3_600,
        'h' => 3_600,
        'm' => 60,
        's' => 1,
        _ => return None,
    };
    let digits = &text[..at];
    let plain = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    plain.then_some((digits.parse().ok()?, seconds))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_a_date_a_time_or_an_age() {
        let now = Timestamp::from_second(1_000_000).expect("a time");
        let check = |text: &str, seconds: Option<i64>| {
            let wanted = seconds.map(|seconds| Moment(seconds * 1_000_000));
            assert_eq!(moment_at(text, now), wanted, "{text}");
        };
        check("1970-01-02", Some(86_400));
        check("1970-01-01T01:00:00Z", Some(3_600));
        check("1970-01-01T01:00:00+01:00", Some(0));
        check("1d", Some(1_000_000 - 86_400));
        check("12h", Some(1_000_000 - 43_200));
        check("15m", Some(1_000_000 - 900));
        check("90s", Some(1_000_000 - 90));
        for wrong in [
            "",
            "d",
            "-1d",
            "1x",
            "1",
            "1.5d",
            "yesterday",
            "1970-13-01",
            "99999999999999999999d",
        ] {
            check(wrong, None);
        }
    }
}
