//! The process group of a command, which is killed as a whole.

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid,
};

/// A process group that does not outlive this value.
///
/// The leader must not be reaped before the group is killed: as long as it is a zombie its id, and
/// with it the id of the group, cannot be given to strangers.
#[derive(Debug)]
pub(crate) struct Group {
    leader: Pid,
    killed: bool,
}

impl Group {
    /// The group that the process `leader` was spawned to lead.
    pub(crate) fn led_by(leader: Pid) -> Self {
        Self {
            leader,
            killed: false,
        }
    }

    /// Kills the leader and every process that is still in the group; at most once.
    pub(crate) fn kill(&mut self) {
        if !std::mem::replace(&mut self.killed, true) {
            // Each fails only when nobody is left, or none whom this process may kill.
            let _ = kill_process_group(self.leader, Signal::KILL);
            // A leader can have moved itself to another group of its session.
            let _ = kill_process(self.leader, Signal::KILL);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Blocks until `leader` has exited, and leaves it a zombie.
///
/// An error of the system call ends the wait as well: the reaping that follows will report it.
pub(crate) fn wait_for_exit(leader: Pid) {
    let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
    while let Err(Errno::INTR) = waitid(WaitId::Pid(leader), options) {}
}
