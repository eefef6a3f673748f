//! The shipped sets by their names.

use std::str::FromStr;

use crate::command::rules::declared::Set;

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
