//! One path that a call would touch.

use std::ops::Range;

use triplane_interception::Offence;

use crate::offence::OFFENCE_BYTES_MAX;
use crate::tool::op::PathOp;

/// A path of a call, with what would happen to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AskedPath {
    pub(crate) op: PathOp,
    pub(crate) path: String,
    /// Where it stands in the argument that names it, in bytes.
    pub(crate) at: Range<usize>,
}

impl AskedPath {
    /// What a finding about the path quotes.
    pub(crate) fn offence(&self) -> Offence {
        Offence {
            text: self.path.chars().take(OFFENCE_BYTES_MAX).collect(),
            span: Some(self.at.clone()),
        }
    }

    /// A path that is the whole of an argument.
    pub(crate) fn whole(op: PathOp, path: &str) -> Self {
        Self {
            op,
            path: path.to_owned(),
            at: 0..path.len(),
        }
    }
}
