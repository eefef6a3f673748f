//! The kernel beside what bounds it and beside its peers.
//!
//! Two programs over the same cases: `triplane-bench` measures time under the system's allocator, and
//! runs `triplane-bench-allocations`, which counts under an allocator that counts and is slower.

pub mod measure;
pub mod chain;
pub mod fanout;
pub mod peers;
pub mod scale;

use crate::measure::Case;

/// Every case, in groups that are built, measured and dropped one after the other.
pub const GROUPS: [fn() -> Vec<Case>; 4] =
    [chain::cases, fanout::cases, peers::cases, scale::cases];
