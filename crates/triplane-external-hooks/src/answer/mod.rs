//! Saying what was decided in the words that a harness understands.
//!
//! The rules that hold everywhere:
//!
//! - **Allow is silence.** A printed permission would skip the user's own question in Claude Code,
//!   and counts as a broken hook in Codex. An event that the catalogue does not know is the
//!   exception: it is answered with a message, never with an empty success.
//! - **A refusal takes the event's own form**, with a reason that is never empty, and nothing
//!   beyond the harness's schema: Codex rejects an answer for one unknown field and lets the tool
//!   run.
//! - **Where nothing can be refused, nothing pretends to refuse**: the hook fails visibly instead.
//! - **Nobody is kept from stopping twice**: where `stop_hook_active` says that a hook has refused
//!   the last stop, a further refusal only fails visibly.
//! - **A question that cannot be read is refused**: exit code 2 and the reason on standard error.
//!
//! | form | standard output | exit |
//! |---|---|---|
//! | [`Refusal::Permission`] | `hookSpecificOutput.permissionDecision: deny` | 0 |
//! | [`Refusal::Behavior`] | `hookSpecificOutput.decision.behavior: deny` | 0 |
//! | [`Refusal::Block`] | `decision: block` and `reason` | 0 |
//! | [`Refusal::Stop`] | `continue: false` and `stopReason` | 0 |
//! | [`Refusal::Exit`], [`Refusal::Replacement`], unknown events | nothing; reason on stderr | 2 |
//! | [`Refusal::Impossible`] | nothing; reason on stderr | 1 |

mod ruling;
mod form;

pub use form::{answer, answer_unreadable};
pub use ruling::{HarnessAnswer, Ruling};

#[cfg(doc)]
use crate::catalog::Refusal;
