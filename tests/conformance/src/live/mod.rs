//! `--live`: random scenarios, run on the old package and on the legacy names, and compared.
//!
//! The recorder draws a scenario and records it (`crate::recorder`); `verdict` says whether what came
//! here is the same. What differs is made smaller while it differs (`reduction`, `minimise`), and
//! written as a scenario with its trace, which the plain run takes with `--scenarios` and `--traces`
//! (`campaign`).

mod edit;
mod verdict;
mod reduction;
mod minimise;
mod campaign;

pub(crate) use campaign::{Campaign, Found, Live};

#[cfg(test)]
mod tests;
