//! The stages of a tool call, in their fixed order.

/// A stage of the tool-call plan (ADR-0120 D4).
///
/// The order is the order of declaration, and no registration can change it: guards judge before a
/// user's policy does, a transform sees only what both let pass, and what it changes is judged
/// again. A failure in any stage denies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ToolCallStage {
    /// Guards, which know one danger well.
    IntrinsicGuard,
    /// The user's policy: what it refuses.
    ActionPolicy,
    /// The user's policy: what it rewrites.
    UserTransform,
    /// Guards and policy again, over arguments that a transform has changed.
    Recheck,
}

impl ToolCallStage {
    /// Every stage, in order.
    pub const ALL: [Self; 4] = [
        Self::IntrinsicGuard,
        Self::ActionPolicy,
        Self::UserTransform,
        Self::Recheck,
    ];

    /// The stage's name in plans and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::IntrinsicGuard => "intrinsic_guard",
            Self::ActionPolicy => "action_policy",
            Self::UserTransform => "user_transform",
            Self::Recheck => "recheck",
        }
    }
}
