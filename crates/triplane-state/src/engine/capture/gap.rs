//! A fact that was to be committed and was refused.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::error::StateError;

/// Why a fact was not captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum GapCause {
    /// The store refused what was to be appended: a payload over the limit, or rows that do not fit.
    AppendRefused,
    /// Others held the store for longer than was waited.
    StoreLocked,
    /// The store could not be opened.
    StoreAbsent,
    /// The file was moved, deleted or replaced while it was open.
    StoreMoved,
    /// The file could not be written.
    StoreReadOnly,
    /// The file contradicts itself.
    StoreDamaged,
    /// There was no room.
    DiskFull,
}

impl GapCause {
    /// Every cause.
    pub const ALL: [Self; 7] = [
        Self::AppendRefused,
        Self::StoreLocked,
        Self::StoreAbsent,
        Self::StoreMoved,
        Self::StoreReadOnly,
        Self::StoreDamaged,
        Self::DiskFull,
    ];

    /// The wire string.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::AppendRefused => "append_refused",
            Self::StoreLocked => "store_locked",
            Self::StoreAbsent => "store_absent",
            Self::StoreMoved => "store_moved",
            Self::StoreReadOnly => "store_read_only",
            Self::StoreDamaged => "store_damaged",
            Self::DiskFull => "disk_full",
        }
    }

    /// The cause with this wire string.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|cause| cause.as_str() == text)
    }

    /// Why a commit that failed with `error` captured nothing. A closed store was closed by its
    /// owner, which is no gap.
    pub(crate) fn of_commit(error: &StateError) -> Option<Self> {
        Some(match error {
            StateError::Closed => return None,
            StateError::Busy { .. } => Self::StoreLocked,
            StateError::Moved { .. } => Self::StoreMoved,
            StateError::ReadOnly { .. } => Self::StoreReadOnly,
            StateError::DiskFull { .. } => Self::DiskFull,
            StateError::Damaged { .. } => Self::StoreDamaged,
            _ => Self::AppendRefused,
        })
    }

    /// Why a store that could not be opened with `error` captured nothing.
    pub(crate) fn of_opening(error: &StateError) -> Self {
        match Self::of_commit(error) {
            None | Some(Self::AppendRefused) => Self::StoreAbsent,
            Some(cause) => cause,
        }
    }
}

/// Facts that were refused for one cause, as they are noted until they can be recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Gap {
    /// Noted twice, it is recorded once.
    pub(crate) id: Uuid,
    pub(crate) cause: GapCause,
    pub(crate) facts: u64,
    pub(crate) first_at_us: i64,
    pub(crate) last_at_us: i64,
    pub(crate) detail: String,
}

impl Gap {
    pub(crate) fn new(cause: GapCause, facts: u64, now_us: i64, error: &StateError) -> Self {
        Self {
            id: Uuid::now_v7(),
            cause,
            facts,
            first_at_us: now_us,
            last_at_us: now_us,
            detail: error.to_string(),
        }
    }
}
