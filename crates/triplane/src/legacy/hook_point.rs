//! `HookPoint`: the closed vocabulary of the old hook bus.

use std::fmt;
use std::str::FromStr;

use triplane_kernel::profile::ProfileName;

macro_rules! points {
    ($($(#[$doc:meta])* $point:ident = $wire:literal),+ $(,)?) => {
        /// A point of a session at which hooks are called (ADR-0047 D2; plane: interception for the
        /// two blocking points, observation for the others).
        ///
        /// Move to a stage of a plan for a point that may refuse, and to a filter on
        /// [`SignalKind`](triplane_signals::SignalKind) for one that only observes.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum HookPoint {
            $($(#[$doc])* $point,)+
        }

        impl HookPoint {
            /// Every point, in the order of the record.
            pub const ALL: &'static [Self] = &[$(Self::$point),+];

            /// The wire string, for example `session.start`.
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$point => $wire),+ }
            }
        }
    };
}

points! {
    /// A session began.
    SessionStart = "session.start",
    /// A session ends.
    SessionEnd = "session.end",
    /// A branch was created.
    BranchCreate = "branch.create",
    /// A branch ended.
    BranchEnd = "branch.end",
    /// A provider is about to be called.
    ApiPreCall = "api.pre_call",
    /// A call of a provider has settled.
    ApiPostCall = "api.post_call",
    /// A provider streamed a chunk.
    ApiStreamChunk = "api.stream_chunk",
    /// A tool is about to be called; a hook may refuse.
    ToolPre = "tool.pre",
    /// A tool was called.
    ToolPost = "tool.post",
    /// The call of a tool failed.
    ToolError = "tool.error",
    /// A message was added. It is not recorded here, since it has a signal of its own.
    MessageAdd = "message.add",
    /// Nobody emits this point; see [`DORMANT_POINTS`].
    ArtifactCreated = "artifact.created",
    /// A user's prompt is about to be submitted; a hook may refuse.
    UserPromptSubmit = "prompt.submit",
}

/// The points that nobody emits (plane: observation). Registering there is accepted, and warned of.
///
/// There is nothing to move to: no new name stands for a fact that does not occur.
pub const DORMANT_POINTS: &[HookPoint] = &[HookPoint::ArtifactCreated];

/// The text is not a point.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{name}` is not a hook point")]
pub struct UnknownHookPoint {
    /// The text.
    pub name: String,
}

impl HookPoint {
    /// Whether a hook may refuse here.
    pub const fn is_blocking(self) -> bool {
        matches!(self, Self::ToolPre | Self::UserPromptSubmit)
    }

    /// The profile under which [`HookBus::emit`](crate::legacy::HookBus::emit) runs its hooks.
    pub const fn profile(self) -> ProfileName {
        if self.is_blocking() {
            ProfileName::HookbusBlocking
        } else {
            ProfileName::HookbusObservational
        }
    }
}

impl fmt::Display for HookPoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for HookPoint {
    type Err = UnknownHookPoint;

    fn from_str(text: &str) -> Result<Self, UnknownHookPoint> {
        let mut points = Self::ALL.iter().copied();
        points.find(|point| point.as_str() == text).ok_or_else(|| {
            let name = text.to_owned();
            UnknownHookPoint { name }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thirteen_points_are_read_and_written_and_two_may_refuse() {
        assert_eq!(HookPoint::ALL.len(), 13);
        for point in HookPoint::ALL {
            assert_eq!(point.as_str().parse(), Ok(*point));
        }
        assert!("tool.nope".parse::<HookPoint>().is_err());
        let blocking = HookPoint::ALL.iter().filter(|point| point.is_blocking());
        assert_eq!(
            blocking.collect::<Vec<_>>(),
            [&HookPoint::ToolPre, &HookPoint::UserPromptSubmit]
        );
    }
}
