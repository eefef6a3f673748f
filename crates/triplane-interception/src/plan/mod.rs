//! Compiled plans: the fixed order in which the owner of an operation asks.

mod stage;
mod error;
mod context;
mod guard;
mod policy;
mod tool_call;

pub use error::PlanError;
pub use stage::ToolCallStage;
pub use tool_call::{Judged, ToolCallDecision, ToolCallPlan, ToolCallPlanBuilder};
