//! Delivery: from a committed intent to a sink.

mod intent;
mod sink;

pub use intent::DeliveryIntent;
pub use sink::{
    DeliveryResult, DeliverySink, Idempotency, SinkDeclaration, SinkDurability, SinkOrdering,
};
