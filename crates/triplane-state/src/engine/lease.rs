//! Who holds a lease, and whether that process is still there.
//!
//! A lease ends by time. When its holder can be proven dead, there is nothing to wait for: after
//! `kill -9` the next worker resumes at once. What cannot be proven counts as alive: another boot or
//! another process namespace (perhaps another container on the same files), or a `/proc` that hides
//! processes.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// A process on this machine, told apart from every other that ever had its number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeaseHolder {
    boot: String,
    namespace: String,
    pid: u32,
    /// When the process started, in clock ticks since boot.
    started: u64,
}

impl LeaseHolder {
    /// This process. What `/proc` does not tell is left empty, and then nothing is ever proven.
    pub(crate) fn this_process() -> Self {
        let pid = std::process::id();
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
        let namespace = fs::read_link("/proc/self/ns/pid").unwrap_or_default();
        Self {
            boot: boot.trim().to_owned(),
            namespace: namespace.to_string_lossy().into_owned(),
            pid,
            started: match look_up(pid) {
                Sight::Running { started } => started,
                Sight::Gone | Sight::Unknown => 0,
            },
        }
    }

    /// The stored form: boot, process namespace, process and its start, separated by `/`.
    pub(crate) fn to_text(&self) -> String {
        let Self {
            boot,
            namespace,
            pid,
            started,
        } = self;
        format!("{boot}/{namespace}/{pid}/{started}")
    }

    /// The start of the machine that it runs on, if that can be told.
    pub(crate) fn boot(&self) -> Option<&str> {
        Some(self.boot.as_str()).filter(|boot| !boot.is_empty())
    }

    fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('/');
        let holder = Self {
            boot: parts.next()?.to_owned(),
            namespace: parts.next()?.to_owned(),
            pid: parts.next()?.parse().ok()?,
            started: parts.next()?.parse().ok()?,
        };
        parts.next().is_none().then_some(holder)
    }

    /// Whether the holder in the stored form `text` is proven dead, as seen from this process.
    pub(crate) fn is_dead(&self, text: &str) -> bool {
        if triplane_kernel::planted!("lease_taken_from_the_living") {
            return true;
        }
        self.comparable(text)
            .is_some_and(|holder| match look_up(holder.pid) {
                Sight::Running { started } => started != holder.started,
                Sight::Gone => true,
                Sight::Unknown => false,
            })
    }

    /// Whether the holder in the stored form `text` is seen to be there.
    pub(crate) fn is_alive(&self, text: &str) -> bool {
        self.comparable(text)
            .is_some_and(|holder| match look_up(holder.pid) {
                Sight::Running { started } => started == holder.started,
                Sight::Gone | Sight::Unknown => false,
            })
    }

    /// The holder in the stored form `text`, if this process can look for it.
    fn comparable(&self, text: &str) -> Option<Self> {
        let holder = Self::parse(text)?;
        let comparable = !holder.boot.is_empty()
            && !holder.namespace.is_empty()
            && holder.started > 0
            && holder.boot == self.boot
            && holder.namespace == self.namespace;
        comparable.then_some(holder)
    }
}

enum Sight {
    Running { started: u64 },
    Gone,
    Unknown,
}

fn look_up(pid: u32) -> Sight {
    match fs::read_to_string(format!("/proc/{pid}/stat")) {
        Ok(stat) => parse_stat(&stat).unwrap_or(Sight::Unknown),
        // With `hidepid` the processes of others look like gone ones; then process 1 is hidden too.
        Err(error) if error.kind() == ErrorKind::NotFound && Path::new("/proc/1/stat").exists() => {
            Sight::Gone
        }
        Err(_) => Sight::Unknown,
    }
}

/// Reads state and start time. The name in front may hold anything, also blanks and brackets.
fn parse_stat(stat: &str) -> Option<Sight> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X" | "x") {
        return Some(Sight::Gone);
    }
    // Field 22 of the line; the state is field 3.
    let started = fields.nth(18)?.parse().ok()?;
    Some(Sight::Running { started })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl FnOnce(&mut LeaseHolder), dead: bool) {
        let me = LeaseHolder::this_process();
        let mut other = me.clone();
        change(&mut other);
        assert_eq!(me.is_dead(&other.to_text()), dead, "{other:?}");
        let alive = other == me;
        assert_eq!(me.is_alive(&other.to_text()), alive, "{other:?}");
    }

    #[test]
    fn only_what_is_proven_counts_as_dead() {
        check(|_me| {}, false);
        check(|other| other.started += 1, true);
        check(|other| other.pid = u32::MAX, true);
        check(|other| other.started = 0, false);
        check(
            |other| (other.pid, other.boot) = (u32::MAX, "another".to_owned()),
            false,
        );
        check(
            |other| (other.pid, other.namespace) = (u32::MAX, "pid:[1]".to_owned()),
            false,
        );
        check(
            |other| (other.pid, other.boot) = (u32::MAX, String::new()),
            false,
        );
    }

    #[test]
    fn text_that_is_no_holder_counts_as_alive() {
        let me = LeaseHolder::this_process();
        for text in ["", "a/b/c/d", "a/b/1", "a/b/1/2/3"] {
            assert!(!me.is_dead(text), "{text}");
        }
    }

    #[test]
    fn a_zombie_is_gone_whatever_its_name() {
        let stat = |state| format!("7 (a) b (c) {state} {}", "1 ".repeat(17) + "99 100 5");
        assert!(matches!(
            parse_stat(&stat("S")),
            Some(Sight::Running {
                started: 99 | 100 | 5
            })
        ));
        assert!(matches!(parse_stat(&stat("Z")), Some(Sight::Gone)));
        assert!(parse_stat("7 (a").is_none());
    }
}
