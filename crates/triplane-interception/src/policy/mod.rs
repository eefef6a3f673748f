//! Permission policies: a user's own rules, which narrow and rewrite but never overrule a guard.

mod tool_pattern;
mod argument;
mod declared_tool;
mod declaration;
mod permission;
mod declared;

pub use declaration::{GuardSettings, POLICY_VERSION, PolicyRefused};
pub use declared::DeclaredPolicy;
pub use declared_tool::{DeclaredTool, ToolKind};
pub use permission::{PermissionPolicy, Rewritten};
pub use tool_pattern::ToolPattern;
