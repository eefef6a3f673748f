//! What must survive? One transaction for outcome and intent, and delivery after it.

pub mod retry;
pub mod commit;
pub mod delivery;
