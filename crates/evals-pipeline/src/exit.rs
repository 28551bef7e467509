//! The exit codes of the program.

use std::process::ExitCode;

/// The exit codes, which scripts can rely on; a greater one is worse.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Exit {
    /// Everything asked for was done.
    Done = 0,
    /// Done, but a check failed.
    CheckFailed = 1,
    /// Could not do it: bad usage, bad input, an unreachable server.
    CouldNot = 2,
    /// The user interrupted it; finished work is kept.
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
    reason = "the user does not want to wait for running work"
)]
pub(crate) fn at_once(exit: Exit) -> ! {
    // Nothing else would end the workers of a target, which have process groups of their own.
    evals_targets::process::kill_all();
    std::process::exit(i32::from(exit as u8))
}
