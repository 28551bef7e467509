//! The command line of a worker, run by the shell, and the group of processes that it starts.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, MutexGuard, PoisonError};

use tokio::process::Command;

/// A command line that the shell runs, such as `python my_rag.py --k 5`: `sh -c` on Unix, `cmd /C` on Windows.
///
/// It runs in the folder and with the environment of this program. `PYTHONUNBUFFERED=1` is added if the variable is not set, because
/// Python otherwise keeps printed lines back when stdout is a pipe.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WorkerCommand {
    line: String,
    folder: Option<PathBuf>,
}

impl WorkerCommand {
    /// A command line in the folder of this program.
    pub fn new(line: impl Into<String>) -> Self {
        Self {
            line: line.into(),
            folder: None,
        }
    }

    /// Runs the command in another folder. An empty path is the folder of this program, as the parent of a bare file name is.
    #[must_use]
    pub fn in_folder(mut self, folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        // The system refuses an empty path as a folder.
        self.folder = (!folder.as_os_str().is_empty()).then_some(folder);
        self
    }

    /// The command line.
    pub fn line(&self) -> &str {
        &self.line
    }

    /// The folder that it runs in; `None` for the folder of this program.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The process to start, with pipes, as the leader of a process group of its own. A terminal sends Ctrl-C to the group of
    /// this program, which decides what becomes of its workers.
    pub(super) fn process(&self) -> Command {
        let mut process = shell(&self.line);
        if let Some(folder) = &self.folder {
            process.current_dir(folder);
        }
        if std::env::var_os("PYTHONUNBUFFERED").is_none() {
            process.env("PYTHONUNBUFFERED", "1");
        }
        process
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true);
        process
    }
}

#[cfg(not(windows))]
fn shell(line: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(line);
    #[cfg(unix)]
    shell.process_group(0);
    shell
}

/// The line goes to `cmd` as it is, in the one pair of quotes that `/S` takes off.
#[cfg(windows)]
fn shell(line: &str) -> Command {
    /// Windows sends the Ctrl-C of a terminal to every process but those of such a group.
    const CREATE_NEW_PROCESS_GROUP: u32 = 0x0000_0200;

    let mut shell = Command::new("cmd");
    shell.creation_flags(CREATE_NEW_PROCESS_GROUP);
    shell.raw_arg(format!("/D /S /C \"{line}\""));
    shell
}

impl fmt::Display for WorkerCommand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.line)
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_folder_is_that_of_the_program() {
        let command = WorkerCommand::new("cat");
        assert_eq!(command.clone().in_folder(""), command);
        let elsewhere = command.in_folder("data");
        assert_eq!(elsewhere.folder(), Some(Path::new("data")));
    }
}
