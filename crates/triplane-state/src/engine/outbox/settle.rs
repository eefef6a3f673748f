//! What an attempt's result means for its intent.

use std::time::Duration;

use crate::clock::micros;
use crate::delivery::DeliveryResult;
use crate::engine::outbox::change::Change;
use crate::engine::outbox::claim::{ClaimedAttempt, INTERRUPTED_TOGETHER_MAX};
use crate::engine::outbox::status::{OutboxStatus, Reason};
use crate::retry::RetryPolicy;

/// The change that `result` makes, guarded by the claimed attempt.
pub(crate) fn settlement(
    claimed: ClaimedAttempt,
    result: DeliveryResult,
    retry: RetryPolicy,
    now_us: i64,
) -> Change {
    let mut change = Change {
        failures: claimed.failures,
        interrupted: claimed.interrupted,
        unacked: claimed.unacked,
        ..Change::new(
            claimed.id,
            (OutboxStatus::Delivering, claimed.attempt),
            OutboxStatus::Delivered,
            Reason::TransportOk,
            now_us,
        )
    };
    match result {
        DeliveryResult::Delivered(receipt) => {
            change.receipt = receipt;
            if claimed.ack_token.is_some() {
                until_acknowledged(&mut change, retry);
            }
        }
        DeliveryResult::Retry { error, after } => {
            again(&mut change, Reason::RetryBackoff, error, after, retry);
        }
        DeliveryResult::Unknown { error } => {
            again(&mut change, Reason::OutcomeUnknown, error, None, retry);
        }
        DeliveryResult::Reject { reason } => give_up(&mut change, Reason::Rejected, reason),
    }
    change
}

/// An intent that cannot be sent as it stands is given up: no attempt will do better.
pub(crate) fn unsendable(claimed: ClaimedAttempt, unsendable: Unsendable, now_us: i64) -> Change {
    let rejected = DeliveryResult::Reject {
        reason: unsendable.says,
    };
    let change = settlement(claimed, rejected, RetryPolicy::default(), now_us);
    Change {
        reason: unsendable.reason,
        ..change
    }
}

/// Why an intent cannot be sent as it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Unsendable {
    pub(crate) reason: Reason,
    pub(crate) says: String,
}

/// The holder of the lease is dead: the intent is due again without waiting for the end of the
/// lease. Whether the attempt reached the sink is not known.
///
/// A process that dies says nothing about what it delivered, so this is no failure: it does not use
/// up the bound of the retry policy. The intent is due where it stood, until it has been
/// interrupted so often that it is suspected: then it goes behind everything else that is due, and
/// in the end it is given up.
pub(crate) fn lease_void(
    claimed: ClaimedAttempt,
    created_at_us: i64,
    retry: RetryPolicy,
    now_us: i64,
) -> Change {
    let delivered = DeliveryResult::Delivered(None);
    let mut change = Change {
        to: OutboxStatus::Pending,
        reason: Reason::LeaseVoid,
        error: Some("the process that made the attempt died".to_owned()),
        interrupted: claimed.interrupted + 1,
        ..settlement(claimed, delivered, retry, now_us)
    };
    if change.interrupted >= interrupted_max(retry) {
        change.to = OutboxStatus::DeadLetter;
        change.reason = Reason::Interrupted;
    } else if change.interrupted < INTERRUPTED_TOGETHER_MAX {
        change.next_attempt_at_us = created_at_us.min(now_us);
    }
    change
}

/// How many interrupted attempts an intent is given: as many alone as the retry policy gives it
/// answered ones.
pub(crate) fn interrupted_max(retry: RetryPolicy) -> u32 {
    retry
        .attempts_max()
        .saturating_add(INTERRUPTED_TOGETHER_MAX)
}

fn again(
    change: &mut Change,
    reason: Reason,
    error: String,
    after: Option<Duration>,
    retry: RetryPolicy,
) {
    change.failures += 1;
    triplane_kernel::failpoint!("settle.retry_decided");
    let Some(wait) = wait(change, retry) else {
        return give_up(change, Reason::MaxAttempts, error);
    };
    let wait = wait.max(after.unwrap_or_default());
    change.to = OutboxStatus::Pending;
    change.reason = reason;
    change.error = Some(error);
    change.next_attempt_at_us = change.next_attempt_at_us.saturating_add(micros(wait));
}

/// The sink has taken it; it is sent again until its consumer says so, within the same bound.
fn until_acknowledged(change: &mut Change, retry: RetryPolicy) {
    change.unacked += 1;
    let Some(wait) = wait(change, retry) else {
        let error = "it was taken by the sink and never acknowledged".to_owned();
        return give_up(change, Reason::AckTimeout, error);
    };
    change.to = OutboxStatus::Pending;
    change.next_attempt_at_us = change.next_attempt_at_us.saturating_add(micros(wait));
}

/// The wait until the next attempt; nothing when that was the last one.
fn wait(change: &Change, retry: RetryPolicy) -> Option<Duration> {
    let answered = change.failures.saturating_add(change.unacked);
    retry.wait_after_with(answered, change.id.unsigned_abs())
}

fn give_up(change: &mut Change, reason: Reason, error: String) {
    change.to = OutboxStatus::DeadLetter;
    change.reason = reason;
    change.error = Some(error);
}
