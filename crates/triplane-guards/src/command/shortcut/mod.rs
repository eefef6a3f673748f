//! The short way around the grammar, for what most commands are made of.
//!
//! The grammar tries many readings of each word, and takes as long for a list of simple commands as for
//! anything else. Such lists, with the loops and conditions around them, are read here in one go into
//! the grammar's own tree, and so are the words that hold no more than quotes and names of variables.
//! Whatever is not plainly one of these is left to the grammar, and so is all that may be wrong: what
//! is read here is what the grammar would have read, down to the places. The fuzz target `shell` and
//! the tests hold the one against the other.

mod lexer;
mod reader;
mod simple;
mod list;
mod word;

pub(crate) use list::program;
pub(crate) use word::pieces;
