//! How the process ends.

use std::process::ExitCode;

/// The exit codes that scripts can rely on, the worse the greater.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Exit {
    /// Everything asked for was done.
    Done = 0,
    /// It was done, but a check failed.
    CheckFailed = 1,
    /// It could not be done: bad usage, bad input, an unreachable server.
    CouldNot = 2,
    /// The user interrupted it; what was finished has been kept.
    Interrupted = 130,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// Ends the process without unwinding, for a user who does not want to wait.
#[expect(
    clippy::exit,
    reason = "waiting for what still runs is what the user refuses"
)]
pub(crate) fn at_once(exit: Exit) -> ! {
    std::process::exit(i32::from(exit as u8))
}
