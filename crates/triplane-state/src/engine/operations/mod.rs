//! Reading operations whole: the outcome, how it was judged, and how far its deliveries have come.
//!
//! A page costs two statements however many rows it has: the operations with their evidence, and
//! the intents of all of them. Its size is bounded twice, by rows and by the bytes of payload, so a
//! reader of any session needs the memory of one page.

mod record;
mod read;

pub use record::{DeliveryRecord, EvidenceRecord, OperationPage, OperationRecord};

pub(crate) use read::{named, page};
