//! The rules: data that the build compiled, files that users add, and entries that let through.
//!
//! A rule names programs, the subcommand, flags that must and must not be there, and where an
//! operand may not lead. A [`RuleSet`] is what one guard knows: a shipped set, the files added to
//! it, and their entries, which silence findings of dangerous rules only.

pub(crate) mod declared;
mod names;
pub(crate) mod rule;
mod arguments;
mod matching;
pub(crate) mod shipped;
mod refused;
mod entry;
pub(crate) mod plain_pattern;
pub(crate) mod piecewise;
mod rule_file;
mod listing;
mod rule_set;

pub use declared::{Set, Tier};
pub use entry::{Entry, LetThrough};
pub use listing::{ListedEntry, ListedRule};
pub use names::UnknownSet;
pub use refused::RuleFileRefused;
pub use rule::{Rule, RuleRef};
pub use rule_file::RuleFile;
pub use rule_set::RuleSet;
pub(crate) use rule_set::{Asked, Hit};
pub use shipped::rules;
