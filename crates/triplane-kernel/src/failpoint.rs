//! Labelled places in the code at which the crash campaign ends the process, and switches at which it
//! plants a bug.
//!
//! Both are compiled only when the compiler is given `--cfg triplane_crash`, which `cargo xtask crash`
//! does and nothing else: no feature turns them on, so no set of features of a dependent can. In every
//! other build `failpoint!` is nothing and `planted!` is `false`.
//!
//! What a visit does is up to whoever installs a hook: this crate ends no process.

/// Marks a place at which the crash campaign may end the process.
#[cfg(not(triplane_crash))]
#[doc(hidden)]
#[macro_export]
macro_rules! failpoint {
    ($label:literal) => {};
}

/// Whether the crash campaign has planted this bug.
#[cfg(not(triplane_crash))]
#[doc(hidden)]
#[macro_export]
macro_rules! planted {
    ($bug:literal) => {
        false
    };
}

/// Marks a place at which the crash campaign may end the process.
#[cfg(triplane_crash)]
#[doc(hidden)]
#[macro_export]
macro_rules! failpoint {
    ($label:literal) => {
        $crate::failpoint::visit($label)
    };
}

/// Whether the crash campaign has planted this bug.
#[cfg(triplane_crash)]
#[doc(hidden)]
#[macro_export]
macro_rules! planted {
    ($bug:literal) => {
        $crate::failpoint::is_planted($bug)
    };
}

#[cfg(triplane_crash)]
mod hook {
    use std::sync::OnceLock;

    /// What is called at every visit, and what answers whether a bug is planted.
    #[derive(Debug, Clone, Copy)]
    pub struct Hook {
        /// Called with the label of the place.
        pub visit: fn(&'static str),
        /// Called with the name of the bug.
        pub planted: fn(&'static str) -> bool,
    }

    static HOOK: OnceLock<Hook> = OnceLock::new();

    /// Sets the hook of this process. The first one stays.
    pub fn install(hook: Hook) {
        HOOK.get_or_init(|| hook);
    }

    /// Visits a place.
    pub fn visit(label: &'static str) {
        if let Some(hook) = HOOK.get() {
            (hook.visit)(label);
        }
    }

    /// Whether a bug is planted.
    pub fn is_planted(bug: &'static str) -> bool {
        HOOK.get().is_some_and(|hook| (hook.planted)(bug))
    }
}

#[cfg(triplane_crash)]
pub use hook::{Hook, install, is_planted, visit};
