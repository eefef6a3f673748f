//! How Claude Code and Codex plug in: their wire shapes, transcripts and answers.
//!
//! Two directions, and nothing in between: **in**, the text that a harness wrote becomes a
//! [`HookEvent`] or a reason why it is none; **out**, a [`Ruling`] becomes the bytes and the exit
//! code that this harness understands for this event. What happens to the event (who judges it,
//! where it is kept) is decided elsewhere; this crate knows no store and no runtime.
//!
//! | to | go to |
//! |---|---|
//! | know an event and its form of refusal | [`catalog`] |
//! | read one event, as a live hook does | [`HookEvent::read`], [`ObjectEnd`] |
//! | read a recorded session of any size | [`source`] |
//! | name an event for ever, so that it is recorded once | [`mod@identity`], [`occurrence`] |
//! | answer a harness | [`answer()`], [`answer_unreadable`] |
//! | print the settings that plug the program in | [`print_config`] |

pub mod catalog;
pub mod format;
mod wire;
pub mod identity;
pub mod occurrence;
pub mod source;
pub mod answer;
pub mod config;

pub use answer::{HarnessAnswer, Ruling, answer, answer_unreadable};
pub use catalog::{CallRole, EVENTS, EventSpec, Harness, Phase, Refusal};
pub use config::{ProgramUnusable, print_config};
pub use format::Format;
pub use identity::{ContentDigest, ContentShape, content_digest, identity, occurrence_key};
pub use occurrence::Occurrences;
pub use source::{Entry, Item, Skip, Source};
pub use wire::{Fault, HookEvent, ObjectEnd, Place, UNKNOWN_SESSION, Unreadable};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
