//! What was found, and how bad it is.

use serde::Serialize;

/// How bad a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Grade {
    /// As it should be.
    Good,
    /// Worth to be known, and nothing is broken.
    Note,
    /// Wrong.
    Wrong,
    /// It could not be looked at, so nobody knows.
    Unknown,
}

/// One thing that was looked at.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(crate) struct Finding {
    pub(crate) topic: &'static str,
    pub(crate) grade: Grade,
    pub(crate) says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) way_out: Option<String>,
}

impl Finding {
    pub(crate) fn good(topic: &'static str, says: impl Into<String>) -> Self {
        Self::new(topic, Grade::Good, says, None)
    }

    pub(crate) fn note(
        topic: &'static str,
        says: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self::new(topic, Grade::Note, says, Some(way_out.into()))
    }

    pub(crate) fn wrong(
        topic: &'static str,
        says: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self::new(topic, Grade::Wrong, says, Some(way_out.into()))
    }

    pub(crate) fn unknown(
        topic: &'static str,
        says: impl Into<String>,
        way_out: impl Into<String>,
    ) -> Self {
        Self::new(topic, Grade::Unknown, says, Some(way_out.into()))
    }

    fn new(
        topic: &'static str,
        grade: Grade,
        says: impl Into<String>,
        way_out: Option<String>,
    ) -> Self {
        Self {
            topic,
            grade,
            says: says.into(),
            way_out,
        }
    }
}
