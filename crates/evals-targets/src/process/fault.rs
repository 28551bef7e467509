//! Faults of workers, in words.

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use evals::FailureClass;
use evals_messages::visible;

/// The characters of a foreign line that a message shows.
const SHOWN: usize = 200;

/// Why a request to a worker has no reply.
///
/// The message names the command, what happened, the first 200 characters of a line that is at fault, and the last lines that the
/// worker wrote to stderr.
#[derive(Clone, Debug)]
pub struct WorkerError(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    command: String,
    fault: WorkerFault,
    stderr: Vec<String>,
}

/// The fault of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum WorkerFault {
    /// No process can be started, or the shell found no such command or may not run it. The text is the predicate of a sentence about the
    /// command.
    CannotStart(String),
    /// The process ended with a request open.
    Ended {
        /// How it ended: `exited with status 1`, `was killed by signal 9`.
        status: String,
        /// Replies that it had given before.
        replies: u64,
        /// The beginning of a line that it did not finish.
        half: Option<String>,
        /// Whether it ended by itself and without an error.
        is_clean: bool,
    },
    /// The process closed its stdout and went on.
    ClosedStdout {
        /// The beginning of a line that it did not finish.
        half: Option<String>,
    },
    /// A line is something else than one reply to each request. The text is the predicate of a sentence about the command.
    Line(String),
    /// No reply came in time.
    TimedOut {
        /// The time limit of a request.
        limit: Duration,
        /// Whether the process never wrote a line.
        is_silent: bool,
    },
    /// The process was killed, because another request had no reply in time and none came since.
    Hung {
        /// The id of that request.
        id: String,
    },
    /// The only process that the request is for has ended.
    Forgotten,
    /// The command failed too often in a row.
    GivenUp {
        /// How often.
        times: usize,
        /// The fault of the last process.
        last: Box<WorkerFault>,
    },
}

impl WorkerError {
    pub(super) fn new(command: &str, fault: WorkerFault, stderr: Vec<String>) -> Self {
        Self(Arc::new(Inner {
            command: visible::line(command),
            fault,
            stderr,
        }))
    }

    /// The fault.
    pub fn fault(&self) -> &WorkerFault {
        &self.0.fault
    }

    /// The last lines that the worker wrote to stderr.
    pub fn stderr(&self) -> &[String] {
        &self.0.stderr
    }

    /// The consequence of the error for other requests: [`Terminal`](FailureClass::Terminal) where no further process is started,
    /// [`Content`](FailureClass::Content) for a line that would be the same another time, and for a process that has ended, otherwise
    /// [`Transient`](FailureClass::Transient), because another process may do better.
    pub fn class(&self) -> FailureClass {
        if self.0.fault.is_hopeless() {
            FailureClass::Terminal
        } else if self.0.fault.is_of_a_line() || self.0.fault == WorkerFault::Forgotten {
            FailureClass::Content
        } else {
            FailureClass::Transient
        }
    }

    /// The same error with another fault made from its own.
    pub(super) fn with(&self, fault: impl FnOnce(Box<WorkerFault>) -> WorkerFault) -> Self {
        Self(Arc::new(Inner {
            command: self.0.command.clone(),
            fault: fault(Box::new(self.0.fault.clone())),
            stderr: self.0.stderr.clone(),
        }))
    }
}

impl WorkerFault {
    pub(super) fn unasked(line: &str) -> Self {
        Self::Line(format!(
            "wrote a line without being asked: `{line}`; it has to write one line for each request"
        ))
    }

    pub(super) fn not_a_reply(line: &str, expected: &str) -> Self {
        Self::Line(format!(
            "wrote a line that is not a reply: `{line}`; a reply is {expected}"
        ))
    }

    /// Whether starting the command again cannot help.
    pub(super) fn is_hopeless(&self) -> bool {
        matches!(self, Self::CannotStart(_) | Self::GivenUp { .. })
    }

    /// Whether the process wrote something else than one reply for each request.
    pub(super) fn is_of_a_line(&self) -> bool {
        matches!(self, Self::Line(_))
    }

    /// Whether the process ended without a reply.
    pub(super) fn ended_at_once(&self) -> bool {
        matches!(self, Self::Ended { replies: 0, .. })
    }

    /// Whether the process did what it had to do and ended, so that the request is for the next one.
    pub(super) fn is_used_up(&self) -> bool {
        matches!(
            self,
            Self::Ended {
                replies: 1..,
                is_clean: true,
                ..
            }
        )
    }
}

/// The first characters of a foreign line, safe to print.
pub(super) fn start(line: &str) -> String {
    visible::line(&visible::beginning(line.trim_end(), SHOWN))
}

/// The first bytes of a foreign line as a text, more than a message shows.
pub(super) fn beginning(line: &[u8]) -> Cow<'_, str> {
    // Four bytes at most for a character, and one character more to see that there are more.
    let cut = line.len().min(4 * (SHOWN + 1));
    String::from_utf8_lossy(&line[..cut])
}

impl fmt::Display for WorkerError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner {
            command,
            fault,
            stderr,
        } = &*self.0;
        write!(formatter, "`{command}` {fault}")?;
        if !stderr.is_empty() {
            write!(formatter, "; its stderr ends with: {}", stderr.join(" | "))?;
        }
        Ok(())
    }
}

impl std::error::Error for WorkerError {}

impl fmt::Display for WorkerFault {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::CannotStart(what) | Self::Line(what) => to.write_str(what),
            Self::Ended {
                status,
                replies,
                half,
                ..
            } => write_end(to, status, *replies, half.as_deref()),
            Self::ClosedStdout { half: None } => to.write_str("closed its stdout without a reply"),
            Self::ClosedStdout { half: Some(half) } => {
                write!(to, "closed its stdout in the middle of a line: `{half}`")
            }
            Self::TimedOut { limit, is_silent } => write_timeout(to, *limit, *is_silent),
            Self::Hung { id } => write!(
                to,
                "was killed, because it gave no reply to `{id}` in time and to no other request since"
            ),
            Self::Forgotten => to.write_str(
                "was started again in the middle of the conversation, and has forgotten its earlier turns; `--fresh` asks the whole \
                 conversation again",
            ),
            Self::GivenUp { times, last } => write_given_up(to, *times, last),
        }
    }
}

fn write_end(
    to: &mut fmt::Formatter<'_>,
    status: &str,
    replies: u64,
    half: Option<&str>,
) -> fmt::Result {
    match half {
        Some(half) => write!(to, "{status} in the middle of a line: `{half}`"),
        None if replies == 0 => write!(to, "{status} before its first reply"),
        None => write!(to, "{status} without a reply"),
    }
}

fn write_timeout(to: &mut fmt::Formatter<'_>, limit: Duration, is_silent: bool) -> fmt::Result {
    write!(to, "gave no reply within {} s", limit.as_secs_f64())?;
    if is_silent {
        to.write_str("; it never wrote a whole line, so check that it flushes its stdout")?;
    }
    Ok(())
}

fn write_given_up(to: &mut fmt::Formatter<'_>, times: usize, last: &WorkerFault) -> fmt::Result {
    if let WorkerFault::Ended {
        status,
        replies: 0,
        half: None,
        ..
    } = last
    {
        write!(to, "{status} at once {times} times in a row")
    } else {
        write!(to, "failed {times} times in a row; the last time it {last}")
    }
}
