//! The commit as its users see it: identities, units that share transactions, owners' own rows.

mod identity;
mod units;
mod dedup;
mod owners;
mod roads;
