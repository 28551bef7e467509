//! The content of a lease: the process that holds it.

use std::fs;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::process;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

#[cfg(unix)]
use nix::errno::Errno;
#[cfg(unix)]
use nix::sys::signal::kill;
#[cfg(unix)]
use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use crate::lock_holder::LockHolder;

/// The content of a lease.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Claim {
    pub(super) process: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) host: Option<String>,
    /// The scope of process ids. It is equal for processes that see each other's ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) machine: Option<String>,
    /// Seconds since 1970.
    pub(super) since: u64,
    /// A random number, by which a process recognises its claim.
    pub(super) token: u64,
    pub(super) renewals: u64,
    pub(super) over: bool,
}

impl Claim {
    pub(super) fn new() -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH);
        Self {
            process: process::id(),
            host: read_trimmed("/proc/sys/kernel/hostname"),
            machine: machine(),
            since: now.unwrap_or_default().as_secs(),
            token: RandomState::new().build_hasher().finish(),
            renewals: 0,
            over: false,
        }
    }

    /// Whether the holder released the lease, or was a process of this machine that has ended.
    pub(super) fn is_free(&self) -> bool {
        let is_here = self.machine.is_some() && self.machine == machine();
        self.over || (is_here && has_ended(self.process))
    }

    pub(super) fn holder(&self) -> LockHolder {
        LockHolder {
            process: Some(self.process),
            host: self.host.clone(),
            since: Some(UNIX_EPOCH + Duration::from_secs(self.since)),
        }
    }

    pub(super) fn to_json(&self) -> Vec<u8> {
        serde_json::to_vec(self).expect("a claim is plain data")
    }
}

/// Whether no process has this id. A process of another user counts, even if `/proc` hides it.
#[cfg(unix)]
fn has_ended(process: u32) -> bool {
    let process = i32::try_from(process).ok().filter(|id| *id > 0);
    process.is_some_and(|id| kill(Pid::from_raw(id), None) == Err(Errno::ESRCH))
}

#[cfg(not(unix))]
fn has_ended(_process: u32) -> bool {
    false
}

/// The id of the system's boot and the namespace of process ids, which are the same for processes that see each other. `None` if the system
/// has neither.
fn machine() -> Option<String> {
    let start = read_trimmed("/proc/sys/kernel/random/boot_id")?;
    let processes = fs::read_link("/proc/self/ns/pid").ok()?;
    Some(format!("{start} {}", processes.display()))
}

fn read_trimmed(path: &str) -> Option<String> {
    Some(fs::read_to_string(path).ok()?.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_process_has_ended_only_if_the_system_says_so() {
        assert!(!has_ended(process::id()));
        // Of another user, unless the tests run as root.
        assert!(!has_ended(1));
        let mut child = process::Command::new("true").spawn().unwrap();
        child.wait().unwrap();
        assert!(has_ended(child.id()));
        for no_id in [0, u32::MAX] {
            assert!(!has_ended(no_id));
        }
    }
}
