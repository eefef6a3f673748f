//! The clocks that a test sets.
//!
//! The state plane asks its [`Clock`](triplane_state::clock::Clock), and [`ManualClock`] is the one
//! whose time a test sets, forwards and backwards. The kernel waits on tokio's clock, which a test
//! pauses: `#[tokio::test(start_paused = true)]`.

pub use triplane_state::clock::ManualClock;
