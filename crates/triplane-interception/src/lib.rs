//! May this happen? Guards, permission policies and the plan of a tool call.

pub mod tool_call;
pub mod guard;

pub use guard::{Finding, Guard, Offence, Verdict};
pub use tool_call::{Presence, ToolCall, Workspace};
