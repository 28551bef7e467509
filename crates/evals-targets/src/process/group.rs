//! Process groups: a worker and everything that it started, killed together.

use std::collections::BTreeSet;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The groups of this program that may still have processes.
static LIVE: Mutex<BTreeSet<u32>> = Mutex::new(BTreeSet::new());

/// Kills every worker process of this program with its children.
///
/// For a program that is about to exit without dropping what it started, for example after an interrupt.
pub fn kill_all() {
    let live = std::mem::take(&mut *lock(&LIVE));
    live.into_iter().for_each(kill);
}

/// The group that a worker leads. Dropping it kills the group.
#[derive(Debug)]
pub(super) struct Group {
    leader: u32,
}

impl Group {
    /// The group of a worker that was just started.
    pub(super) fn led_by(leader: u32) -> Self {
        lock(&LIVE).insert(leader);
        Self { leader }
    }

    /// Kills the worker and its children. Later calls do nothing, because the system may give the number to somebody else once
    /// the worker is gone.
    pub(super) fn kill(&self) {
        let was_live = lock(&LIVE).remove(&self.leader);
        if was_live {
            kill(self.leader);
        }
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

#[cfg(unix)]
fn kill(leader: u32) {
    use nix::sys::signal::{Signal, killpg};
    use nix::unistd::Pid;

    let Ok(leader) = i32::try_from(leader) else {
        return;
    };
    // It fails where nobody is left, which is what was wanted.
    let _ = killpg(Pid::from_raw(leader), Signal::SIGKILL);
}

#[cfg(windows)]
fn kill(leader: u32) {
    use std::process::{Command, Stdio};

    let mut kill = Command::new("taskkill");
    kill.args(["/T", "/F", "/PID", &leader.to_string()]);
    kill.stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    // It fails where nobody is left, which is what was wanted.
    let _ = kill.status();
}

#[cfg(not(any(unix, windows)))]
fn kill(_leader: u32) {}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
