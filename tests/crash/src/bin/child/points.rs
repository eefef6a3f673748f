//! What a visit of a failpoint does in a child: counts, and ends the process at the ordered one.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::sync::{LazyLock, Mutex, PoisonError};

use rustix::process::{Signal, getpid, kill_process};
use triplane_crash::order;
use triplane_kernel::failpoint::Hook;

/// The ordered label, and how many visits are left until the last one.
static ORDERED: LazyLock<Option<(String, u32)>> = LazyLock::new(|| {
    let ordered = std::env::var(order::POINT).ok()?;
    let (label, visit) = ordered.rsplit_once(':')?;
    Some((label.to_owned(), visit.parse().ok()?))
});
static BUG: LazyLock<Option<String>> = LazyLock::new(|| std::env::var(order::BUG).ok());
static VISITS: Mutex<BTreeMap<&'static str, u32>> = Mutex::new(BTreeMap::new());

pub(crate) fn install() {
    triplane_kernel::failpoint::install(Hook {
        visit,
        planted: |bug| BUG.as_deref() == Some(bug),
    });
}

/// Visits a place; at the ordered visit nothing comes after it.
pub(crate) fn visit(label: &'static str) {
    let mut visits = VISITS.lock().unwrap_or_else(PoisonError::into_inner);
    let count = visits.entry(label).or_default();
    *count += 1;
    if let Some((ordered, visit)) = ORDERED.as_ref()
        && ordered == label
        && visit == count
    {
        // The lock is held: no other thread visits anything in the meantime.
        kill_process(getpid(), Signal::KILL).ok();
        std::thread::park();
    }
}

/// Writes how often each place was visited, as one JSON object, to the standard output.
pub(crate) fn tell() -> std::io::Result<()> {
    let visits = VISITS.lock().unwrap_or_else(PoisonError::into_inner);
    let text = serde_json::to_string(&*visits)?;
    writeln!(std::io::stdout(), "{text}")
}
