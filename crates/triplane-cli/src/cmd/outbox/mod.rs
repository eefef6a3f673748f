//! `triplane outbox`: the delivery intents, their history, and what is done to them by hand.

mod choice;
mod ls;
mod show;
mod ack;
mod operator;
mod run;

pub(crate) use run::run;
