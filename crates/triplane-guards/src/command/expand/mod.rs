//! From a raw word to the words that a program receives.
//!
//! Brace forms, quotes, parameters, substitutions and field splitting are followed as far as the
//! text tells. What a parameter or a substitution yields is asked from a [`Shell`], so that this
//! module knows neither variables nor commands.

mod shell;
mod escape;
mod word;
mod parameter;

pub(crate) use escape::ansi_c;
pub(crate) use shell::{Purpose, Shell, Unreadable};
pub(crate) use word::{expand, expand_heredoc, options};
