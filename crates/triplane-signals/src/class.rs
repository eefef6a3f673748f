//! The classes of signals that the old session observer and scheduler knew, by name and lane.

use triplane_kernel::Key;

use crate::lane::Lane;

macro_rules! classes {
    ($($(#[$doc:meta])* $class:ident = $wire:literal),+ $(,)?) => {
        /// A class of signal in the old vocabulary (ADR-0033, ADR-0047).
        ///
        /// Every class is a subtype of [`Signal`](Self::Signal) and of nothing else.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum SignalClass {
            $($(#[$doc])* $class,)+
        }

        impl SignalClass {
            /// Every class, in order of declaration.
            pub const ALL: &'static [Self] = &[$(Self::$class),+];

            /// The name in lower case, for example `run_start`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$class => $wire),+ }
            }

            /// The name as stored rows carry it, for example `RunStart`.
            pub const fn stored_name(self) -> &'static str {
                match self { $(Self::$class => stringify!($class)),+ }
            }
        }
    };
}

classes! {
    /// The plain envelope.
    Signal = "signal",
    /// A structured output of a run.
    StructuredOutput = "structured_output",
    /// A run began.
    RunStart = "run_start",
    /// A run ended.
    RunEnd = "run_end",
    /// A run failed.
    RunFailed = "run_failed",
    /// A node joined the running graph.
    NodeSpawned = "node_spawned",
    /// A node began.
    NodeStarted = "node_started",
    /// A node ended well.
    NodeCompleted = "node_completed",
    /// A node failed.
    NodeFailed = "node_failed",
    /// A node was passed over.
    NodeSkipped = "node_skipped",
    /// A node was stopped.
    NodeCancelled = "node_cancelled",
    /// A node may run.
    NodeQueued = "node_queued",
    /// A node waits for an approval.
    NodeAwaitingApproval = "node_awaiting_approval",
    /// A node asked for help.
    NodeEscalated = "node_escalated",
    /// A node waits to be resumed.
    NodePaused = "node_paused",
    /// The gate denied an action.
    GateDenied = "gate_denied",
    /// A message was added to a branch.
    MessageAdded = "message_added",
    /// A dispatch to the outside (ADR-0059).
    DispatchSignal = "dispatch_signal",
    /// A point of the hook bus was passed.
    HookSignal = "hook_signal",
    /// A scheduled run ended well.
    ScheduleRunSucceeded = "schedule_run_succeeded",
    /// A scheduled run failed, or its time ran out.
    ScheduleRunFailed = "schedule_run_failed",
    /// A scheduled run was cancelled.
    ScheduleRunCancelled = "schedule_run_cancelled",
}

impl SignalClass {
    /// The key of the class itself.
    pub const fn key(self) -> Key {
        Key::from_static(self.as_str())
    }

    /// Whether every signal of this class is one of `class`, too.
    pub fn is_a(self, class: Self) -> bool {
        self == class || class == Self::Signal
    }

    /// The lane that a signal of this class moves its node to, if it moves it.
    ///
    /// An escalation that is only for information moves nothing; whoever knows its content leaves it
    /// out.
    pub fn lane(self) -> Option<Lane> {
        match self {
            Self::NodeQueued => Some(Lane::Queued),
            Self::NodeStarted | Self::RunStart => Some(Lane::Running),
            Self::NodeAwaitingApproval => Some(Lane::AwaitingApproval),
            Self::NodePaused => Some(Lane::Paused),
            Self::NodeCompleted | Self::RunEnd => Some(Lane::Succeeded),
            Self::NodeFailed | Self::RunFailed => Some(Lane::Failed),
            Self::NodeSkipped => Some(Lane::Skipped),
            Self::NodeCancelled => Some(Lane::Cancelled),
            Self::NodeEscalated => Some(Lane::Escalated),
            Self::Signal
            | Self::StructuredOutput
            | Self::NodeSpawned
            | Self::GateDenied
            | Self::MessageAdded
            | Self::DispatchSignal
            | Self::HookSignal
            | Self::ScheduleRunSucceeded
            | Self::ScheduleRunFailed
            | Self::ScheduleRunCancelled => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nine_classes_of_nodes_and_three_of_runs_move_a_lane() {
        let moving = SignalClass::ALL
            .iter()
            .filter(|class| class.lane().is_some());
        let moving: Vec<_> = moving.map(|class| class.as_str()).collect();
        assert_eq!(
            moving,
            [
                "run_start",
                "run_end",
                "run_failed",
                "node_started",
                "node_completed",
                "node_failed",
                "node_skipped",
                "node_cancelled",
                "node_queued",
                "node_awaiting_approval",
                "node_escalated",
                "node_paused",
            ]
        );
    }

    #[test]
    fn every_class_is_a_signal_and_nothing_else() {
        for class in SignalClass::ALL {
            assert!(class.is_a(SignalClass::Signal));
            assert_eq!(
                class.is_a(SignalClass::RunEnd),
                *class == SignalClass::RunEnd
            );
        }
    }
}
