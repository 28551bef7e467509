//! The calls under way, and how long none of them has moved.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::time::Instant;

/// How long nothing may move before the watch is called, and called again.
const QUIET: Duration = Duration::from_mins(1);

/// The calls under way, waiting or sent, and when anything last moved.
#[derive(Debug)]
pub(super) struct Calls(Mutex<CallsState>);

#[derive(Debug)]
struct CallsState {
    begun: BTreeMap<u64, Instant>,
    next: u64,
    /// When an attempt last ended, or a call began while no other was open.
    moved: Instant,
    /// When the watch was last called.
    reported: Instant,
}

/// Calls of which none has moved for [`QUIET`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Quiet {
    pub(super) since: Duration,
    pub(super) calls: usize,
    pub(super) oldest: Duration,
}

impl Calls {
    pub(super) fn new() -> Self {
        let now = Instant::now();
        Self(Mutex::new(CallsState {
            begun: BTreeMap::new(),
            next: 0,
            moved: now,
            reported: now,
        }))
    }

    /// Records that a call begins. It ends when the returned guard is dropped.
    pub(super) fn begin(&self) -> Begun<'_> {
        let mut state = self.state();
        let now = Instant::now();
        if state.begun.is_empty() {
            state.moved = now;
        }
        let number = state.next;
        state.next += 1;
        state.begun.insert(number, now);
        Begun {
            calls: self,
            number,
        }
    }

    /// Records that an attempt ended, with success or failure.
    pub(super) fn moved(&self) {
        self.state().moved = Instant::now();
    }

    /// The quiet calls to report, or the moment to ask again. Every call asks; one of them gets the report.
    pub(super) fn quiet(&self) -> Result<Quiet, Instant> {
        let mut state = self.state();
        let now = Instant::now();
        let due = state.moved.max(state.reported) + QUIET;
        let Some((_, oldest)) = state.begun.first_key_value().filter(|_| due <= now) else {
            return Err(due.max(now));
        };
        let quiet = Quiet {
            since: now - state.moved,
            calls: state.begun.len(),
            oldest: now - *oldest,
        };
        state.reported = now;
        Ok(quiet)
    }

    fn state(&self) -> MutexGuard<'_, CallsState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A call under way.
#[derive(Debug)]
pub(super) struct Begun<'a> {
    calls: &'a Calls,
    number: u64,
}

impl Drop for Begun<'_> {
    fn drop(&mut self) {
        self.calls.state().begun.remove(&self.number);
    }
}
