//! The cases: each measures a few rows in one class of durability.

mod commit;
mod read;
mod deliver;
mod argv;
mod backlog;
mod wake;
mod contention;

use std::path::Path;

use crate::Asked;
use crate::row::{Durability, Row};

/// Measures in a folder of its own.
pub(crate) type Case = fn(&Path, Durability, Asked) -> anyhow::Result<Vec<Row>>;

/// Every case with the names of its rows.
pub(crate) const CASES: [(&[&str], Case); 7] = [
    (&commit::NAMES, commit::run),
    (&read::NAMES, read::run),
    (&deliver::NAMES, deliver::run),
    (&argv::NAMES, argv::run),
    (&backlog::NAMES, backlog::run),
    (&wake::NAMES, wake::run),
    (&contention::NAMES, contention::run),
];
