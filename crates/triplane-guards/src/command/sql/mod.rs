//! SQL text to statements: comments dropped, strings kept apart, predicates recognised.

mod token;
mod predicate;
mod statement;

pub(crate) use statement::{SqlAct, acts};
pub(crate) use token::Dialect;
