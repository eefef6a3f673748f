//! Which session is meant by the beginning of its id.

use std::fmt::Write as _;

use anyhow::{Result, bail};
use triplane::state::Store;

/// How many candidates an error lists.
const LISTED_MAX: usize = 10;

/// The session whose id is `beginning`, or else the only one whose id begins so.
pub(crate) async fn session(store: &Store, beginning: &str) -> Result<String> {
    let limit = u32::try_from(LISTED_MAX + 1).unwrap_or(u32::MAX);
    // In the order of their names: one that is named exactly so comes first.
    let mut found = store.sessions_like(beginning, limit).await?;
    match found.len() {
        0 => {
            bail!("no session begins with {beginning:?}; triplane session ls lists those there are")
        }
        1 => Ok(found.remove(0).session),
        _ if found[0].session == beginning => Ok(found.remove(0).session),
        _ => {
            let mut said =
                format!("several sessions begin with {beginning:?}; say more of the id:");
            for candidate in found.iter().take(LISTED_MAX) {
                let _ = write!(said, "\n  {}", candidate.session);
            }
            if found.len() > LISTED_MAX {
                said.push_str("\n  … and more");
            }
            bail!(said)
        }
    }
}
