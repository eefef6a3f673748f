//! What is known to be missing, and of which times nothing can be known.

use serde::Serialize;
use sqlx::{Row as _, SqliteConnection};

use crate::engine::capture::gap::GapCause;
use crate::engine::lease::LeaseHolder;

/// What is known of what the store did not capture.
///
/// Without a gap and without an unknown interval it is still no proof that nothing is missing:
/// facts that nobody tried to commit leave no trace.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CaptureReport {
    /// When the store was made; nothing before it is known. Microseconds since 1970 UTC.
    pub from_us: i64,
    /// When the report was made.
    pub until_us: i64,
    /// How many facts are known to be missing.
    pub known_missing: u64,
    /// What is known to be missing, in the order in which it was recorded.
    pub gaps: Vec<CaptureGap>,
    /// The times between `from_us` and `until_us` of which nothing can be known.
    pub unknown: Vec<UnknownInterval>,
    /// Who was there to capture, in the order of their markers.
    pub bindings: Vec<CaptureBinding>,
}

/// Facts that are known to be missing, for one cause.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CaptureGap {
    /// Its id, a UUID v7.
    pub id: String,
    /// Why.
    pub cause: GapCause,
    /// How many facts.
    pub facts: u64,
    /// When the first of them was refused, in microseconds since 1970 UTC.
    pub first_at_us: i64,
    /// When the last of them was.
    pub last_at_us: i64,
    /// When it could be recorded.
    pub recorded_at_us: i64,
    /// What was said to the first of them.
    pub detail: Option<String>,
}

/// A handle that was there to capture.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct CaptureBinding {
    /// Its id, a UUID v7.
    pub id: String,
    /// When it opened the store, in microseconds since 1970 UTC.
    pub opened_at_us: i64,
    /// When it closed it, if it said so.
    pub closed_at_us: Option<i64>,
    /// Whether it has not closed the store and its process is seen to be there.
    pub open: bool,
}

/// A time of which nothing can be known.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct UnknownInterval {
    /// When it begins, in microseconds since 1970 UTC.
    pub from_us: i64,
    /// When it ends.
    pub until_us: i64,
    /// Why nothing can be known.
    pub why: &'static str,
}

const NOBODY: &str = "nobody had opened the store to stay";
const UNCLOSED: &str = "a process that had opened the store ended without closing it";

/// Reads what is recorded of gaps and markers.
pub(crate) async fn report(
    connection: &mut SqliteConnection,
    now_us: i64,
) -> Result<CaptureReport, sqlx::Error> {
    let from_us: i64 = sqlx::query_scalar("SELECT created_at_us FROM meta")
        .fetch_one(&mut *connection)
        .await?;
    let rows = sqlx::query(
        "SELECT public_id, cause, facts, first_at_us, last_at_us, recorded_at_us, detail \
         FROM capture_gap ORDER BY id",
    )
    .fetch_all(&mut *connection)
    .await?;
    let mut gaps = Vec::with_capacity(rows.len());
    for row in &rows {
        let cause: &str = row.try_get(1)?;
        gaps.push(CaptureGap {
            id: row.try_get(0)?,
            cause: GapCause::parse(cause).ok_or_else(|| {
                sqlx::Error::Decode(format!("unknown cause of a gap: {cause:?}").into())
            })?,
            facts: row.try_get::<i64, _>(2)?.unsigned_abs(),
            first_at_us: row.try_get(3)?,
            last_at_us: row.try_get(4)?,
            recorded_at_us: row.try_get(5)?,
            detail: row.try_get(6)?,
        });
    }
    let rows = sqlx::query(
        "SELECT public_id, opened_at_us, closed_at_us, holder FROM capture_binding ORDER BY id",
    )
    .fetch_all(connection)
    .await?;
    let me = LeaseHolder::this_process();
    let mut bindings = Vec::with_capacity(rows.len());
    for row in &rows {
        let closed_at_us: Option<i64> = row.try_get(2)?;
        bindings.push(CaptureBinding {
            id: row.try_get(0)?,
            opened_at_us: row.try_get(1)?,
            closed_at_us,
            open: closed_at_us.is_none() && me.is_alive(row.try_get(3)?),
        });
    }
    Ok(CaptureReport {
        from_us,
        until_us: now_us,
        known_missing: gaps.iter().map(|gap| gap.facts).sum(),
        unknown: unknown(from_us, now_us, &bindings),
        gaps,
        bindings,
    })
}

/// What lies between the markers of nobody.
fn unknown(from_us: i64, until_us: i64, bindings: &[CaptureBinding]) -> Vec<UnknownInterval> {
    let mut covered: Vec<(i64, i64)> = bindings
        .iter()
        .filter_map(|binding| {
            let end_us = binding.closed_at_us.or(binding.open.then_some(until_us))?;
            Some((binding.opened_at_us, end_us))
        })
        .collect();
    covered.sort_unstable();
    covered.push((until_us, until_us));
    let mut unknown = Vec::new();
    let mut known_until_us = from_us;
    for (start_us, end_us) in covered {
        let start_us = start_us.min(until_us);
        if start_us > known_until_us {
            let unclosed = bindings.iter().any(|binding| {
                binding.closed_at_us.is_none()
                    && !binding.open
                    && (known_until_us..start_us).contains(&binding.opened_at_us)
            });
            unknown.push(UnknownInterval {
                from_us: known_until_us,
                until_us: start_us,
                why: if unclosed { UNCLOSED } else { NOBODY },
            });
        }
        known_until_us = known_until_us.max(end_us.min(until_us));
    }
    unknown
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(bindings: &[(i64, Option<i64>, bool)], wanted: &[(i64, i64, &str)]) {
        let bindings: Vec<_> = bindings
            .iter()
            .map(|(opened_at_us, closed_at_us, open)| CaptureBinding {
                id: String::new(),
                opened_at_us: *opened_at_us,
                closed_at_us: *closed_at_us,
                open: *open,
            })
            .collect();
        let found = unknown(10, 100, &bindings);
        let found: Vec<_> = found
            .iter()
            .map(|it| (it.from_us, it.until_us, it.why))
            .collect();
        assert_eq!(found, wanted);
    }

    #[test]
    fn unknown_is_what_lies_between_the_markers() {
        check(&[], &[(10, 100, NOBODY)]);
        check(&[(10, Some(100), false)], &[]);
        check(&[(10, None, true)], &[]);
        check(&[(10, None, false)], &[(10, 100, UNCLOSED)]);
        check(
            &[
                (20, Some(30), false),
                (25, Some(40), false),
                (60, None, true),
            ],
            &[(10, 20, NOBODY), (40, 60, NOBODY)],
        );
        check(
            &[(20, None, false), (50, Some(60), false)],
            &[(10, 50, UNCLOSED), (60, 100, NOBODY)],
        );
        // Markers of clocks that were set later.
        check(
            &[(5, Some(20), false), (90, Some(300), false)],
            &[(20, 90, NOBODY)],
        );
        check(&[(200, Some(300), false)], &[(10, 100, NOBODY)]);
    }
}
