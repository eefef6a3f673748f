//! The locks and atomics that threads meet at, named in one place: the test of interleavings puts
//! types behind these names that let it choose who goes next.

pub(crate) use std::sync::atomic::AtomicU8;
pub(crate) use std::sync::{Mutex, MutexGuard, RwLock};
