//! The book in `docs/`: what it shows is run, and what it lists is compared.

mod commands;
mod tables;
mod events;
