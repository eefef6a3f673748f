//! Sets and tiers by the names that a rule file has for them.

use std::str::FromStr;

use crate::command::rules::declared::{Set, Tier};

/// The name is that of no shipped set.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no set of rules; `default` and `strict` are")]
pub struct UnknownSet(String);

impl FromStr for Set {
    type Err = UnknownSet;

    fn from_str(name: &str) -> Result<Self, UnknownSet> {
        match name {
            "default" => Ok(Self::Default),
            "strict" => Ok(Self::Strict),
            _ => Err(UnknownSet(name.to_owned())),
        }
    }
}

impl Set {
    /// The name, as a rule file writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::Strict => "strict",
        }
    }
}

impl Tier {
    /// The name, as a rule file writes it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Dangerous => "dangerous",
            Self::Catastrophic => "catastrophic",
        }
    }
}
