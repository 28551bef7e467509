//! Ending a run early without losing what is under way.

use std::sync::{Arc, OnceLock};

/// Tells a run to start no further case. Clones are the same signal.
///
/// Unlike a cancellation it lets the running cases finish: what they have cost so far is not thrown away.
#[derive(Clone, Debug, Default)]
pub struct StopSignal {
    /// Empty until the signal is set; it may be set without a reason.
    reason: Arc<OnceLock<Option<String>>>,
}

impl StopSignal {
    /// A signal that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the signal. What sets it first stays.
    pub fn stop(&self, reason: impl Into<String>) {
        self.reason.get_or_init(|| Some(reason.into()));
    }

    /// Sets the signal without a reason, for whoever interrupts a run and needs no report to say why. What sets it first stays:
    /// a failure that follows from the interruption is no reason.
    pub fn interrupt(&self) {
        self.reason.get_or_init(|| None);
    }

    /// Why the run is to stop, if it is and a reason was given.
    pub fn reason(&self) -> Option<String> {
        self.reason.get().cloned().flatten()
    }

    /// Whether the signal is set.
    pub fn is_set(&self) -> bool {
        self.reason.get().is_some()
    }
}
