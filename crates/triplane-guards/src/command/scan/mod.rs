//! One linear look at a command before the parser sees it.
//!
//! The parser is recursive: what nests deeply costs it stack, and some malformed inputs cost it
//! exponential time. The scan walks the text once, with a stack of modes, and refuses what no
//! ordinary command needs. It is not trusted to understand the shell; the parser behind it runs
//! on a thread of its own with a large stack and a short time limit, or on a text that is small.
//!
//! Single quotes, comments and quoted heredocs are skipped. In an unquoted heredoc only
//! substitutions count. A `)` that ends the pattern of a `case` arm closes nothing.

mod refusal;
mod mode;
mod walk;
mod heredoc;
mod words;
mod reserved;
mod code;

pub use refusal::{BYTES_MAX, CASES_MAX, DEPTH_MAX, SEPARATORS_MAX, ScanRefusal};
pub use walk::scan;
pub(crate) use walk::{Found, look};
