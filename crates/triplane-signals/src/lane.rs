//! Where a node of a graph stands, projected from the signals about it.

/// The nine places of a node (ADR-0033).
///
/// ```
/// use triplane_signals::{Lane, SignalClass, lane_for};
///
/// let told = [SignalClass::NodeStarted, SignalClass::NodeFailed, SignalClass::NodePaused];
/// assert_eq!(lane_for(told.into_iter().filter_map(SignalClass::lane)), Lane::Failed);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Lane {
    /// It may run, or nothing is known of it.
    Queued,
    /// It runs.
    Running,
    /// It waits for an approval.
    AwaitingApproval,
    /// It waits to be resumed.
    Paused,
    /// It ended well.
    Succeeded,
    /// It failed.
    Failed,
    /// It was passed over.
    Skipped,
    /// It was stopped.
    Cancelled,
    /// It asked for help and ended.
    Escalated,
}

impl Lane {
    /// The wire string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::AwaitingApproval => "awaiting_approval",
            Self::Paused => "paused",
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Cancelled => "cancelled",
            Self::Escalated => "escalated",
        }
    }

    /// Whether a node stays here until it is queued or started again.
    pub const fn is_terminal(self) -> bool {
        match self {
            Self::Succeeded | Self::Failed | Self::Skipped | Self::Cancelled | Self::Escalated => {
                true
            }
            Self::Queued | Self::Running | Self::AwaitingApproval | Self::Paused => false,
        }
    }
}

/// The lane of one node, from the lanes that its signals named, in order.
///
/// A terminal lane holds until a new attempt queues or starts the node.
pub fn lane_for(named: impl IntoIterator<Item = Lane>) -> Lane {
    named
        .into_iter()
        .fold(Lane::Queued, |lane, next| match next {
            Lane::Queued | Lane::Running => next,
            _ if lane.is_terminal() => lane,
            _ => next,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(named: &[Lane], wanted: Lane) {
        assert_eq!(lane_for(named.iter().copied()), wanted, "{named:?}");
    }

    #[test]
    fn a_terminal_lane_holds_until_a_new_attempt() {
        use Lane::{AwaitingApproval, Failed, Paused, Queued, Running, Succeeded};
        check(&[], Queued);
        check(&[Running, AwaitingApproval, Paused], Paused);
        check(&[Running, Failed, Succeeded], Failed);
        check(&[Running, Failed, Paused], Failed);
        check(&[Running, Failed, Running], Running);
        check(&[Running, Failed, Queued, Succeeded], Succeeded);
    }
}
