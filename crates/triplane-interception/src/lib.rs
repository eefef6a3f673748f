//! May this happen? Guards, permission policies and the plan of a tool call.
//!
//! An owner of an operation proposes it as a [`ToolCall`] and asks a compiled [`ToolCallPlan`]:
//!
//! ```text
//! intrinsic_guard -> action_policy -> user_transform -> recheck -> allowed | rewritten | denied
//! ```
//!
//! - A [`Guard`] knows one danger well. Its own failure is a denial.
//! - A [`PermissionPolicy`] is a user's file. It narrows and rewrites; it overrules no guard.
//! - An [`Action`] is a callable that only the [`ActionExecutor`] can reach, after the plan.
//!
//! This crate decides. It stores nothing, emits nothing and spawns nothing: what it answers is for
//! the owner to commit and to tell.

pub mod tool_call;
pub mod guard;
pub mod policy;
pub mod plan;
pub mod action;

pub use action::{Action, ActionError, ActionExecutor, Executed, ExecutionContext, Outcome};
pub use guard::{Finding, Guard, Offence, Verdict};
pub use plan::{
    Judged, PlanError, ToolCallDecision, ToolCallPlan, ToolCallPlanBuilder, ToolCallStage,
};
pub use policy::{
    DeclaredPolicy, DeclaredTool, GuardSettings, PermissionPolicy, PolicyRefused, Rewritten,
    ToolKind, ToolPattern,
};
pub use tool_call::{Presence, ToolCall, Workspace};

/// The example of the README, compiled.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
