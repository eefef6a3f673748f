//! A store that others could read, told by every command that opens one.

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use crate::render::complain;

/// What group and others may do.
const OTHERS: u32 = 0o077;

/// Warns, before a store is opened, that others than its owner may use it. Opening it takes that
/// away from them, so the warning is given once; what they have read by then they keep.
pub(crate) fn report(store: &Path) {
    // A store that is not there yet is made private, and what cannot be seen cannot be opened.
    let Ok(found) = std::fs::metadata(store) else {
        return;
    };
    let mode = found.permissions().mode() & 0o777;
    if found.is_file() && mode & OTHERS != 0 {
        complain(format_args!(
            "warning: {} had mode {mode:04o}, so others could use it; it is private from now on",
            store.display()
        ));
    }
}
