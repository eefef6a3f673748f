//! The old names as a whole: what is exported and written of them, what they lose, and what they leave
//! alone.

mod page;
mod exported;
mod deprecations;
mod discarding;
mod abandoned;
mod unasked;
