//! What a child is ordered to do, in its environment.

/// The folder with the store and the journals.
pub const FOLDER: &str = "TRIPLANE_CRASH_FOLDER";
/// The folder of the store, when it is another one.
pub const STORE: &str = "TRIPLANE_CRASH_STORE";
/// What it does: `older`, `work`, `recover`, `receive`, `fill` or `share`.
pub const TASK: &str = "TRIPLANE_CRASH_TASK";
/// A number that the work varies with.
pub const SEED: &str = "TRIPLANE_CRASH_SEED";
/// Where its clock stands when it starts, in microseconds.
pub const CLOCK: &str = "TRIPLANE_CRASH_CLOCK_US";
/// The label at which it ends, and at which visit: `label:n`.
pub const POINT: &str = "TRIPLANE_CRASH_POINT";
/// The planted bug.
pub const BUG: &str = "TRIPLANE_CRASH_BUG";
/// The road to the disk, `ordinary` or `direct`; without it, the seed decides.
pub const ROAD: &str = "TRIPLANE_CRASH_ROAD";

/// How many facts are told by `fill`.
pub const COUNT: &str = "TRIPLANE_CRASH_COUNT";
/// How much faster than time the clock of `fill` and `share` goes.
pub const FASTER: i64 = 2_000;

/// How long a worker of the children holds one intent, in microseconds: an attempt of 2 s, and the
/// margin of 5 s.
pub const LEASE_US: i64 = 7_000_000;
/// How long an attempt may take.
pub const ATTEMPT_S: u64 = 2;
/// What a child that found everything to do done exits with.
pub const DONE: u8 = 0;
