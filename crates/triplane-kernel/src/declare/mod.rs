//! The part of the declaration substrate that Rust needs (ADR-0119): absence with its reasons kept
//! apart, durable snapshots with canonical bytes and a digest, names of callables, and immutable
//! registries.
//!
//! Order is part of an identity wherever it means something: in sequences, in registries. The order
//! of keys in a mapping means nothing and is sorted away.

mod setting;
mod strict;
mod canonical;
mod callable_ref;
mod registry;

pub use callable_ref::{CallableRef, CallableRefError};
pub use canonical::{Digest, NotADigest, SnapshotEnvelope};
pub use registry::{Registered, Registry, RegistryError, RegistryFragment};
pub use setting::Setting;
pub use strict::SnapshotRefused;
