//! Just enough Rust to know who imports whom: tokens, items, the tree of a crate's modules.
//!
//! Macro bodies are read like any other code, so that a path inside `assert!(…)` counts; text in
//! comments and literals does not. What a macro expands to is out of reach.

pub(crate) mod source_files;
pub(crate) mod lexer;
pub(crate) mod test_items;
pub(crate) mod use_tree;
pub(crate) mod module_tree;
pub(crate) mod resolve;
