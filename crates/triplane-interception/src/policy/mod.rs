//! Permission policies: a user's own rules, which narrow and rewrite but never overrule a guard.

mod tool_pattern;
mod argument;
mod declaration;
mod permission;

pub use declaration::{POLICY_VERSION, PolicyRefused};
pub use permission::{PermissionPolicy, Rewritten};
