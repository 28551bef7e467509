//! A signal that ends a run early without losing the running cases.

use std::sync::{Arc, OnceLock};

/// Tells a run to start no further case. Clones share one signal.
///
/// Unlike a cancellation, it lets running cases finish, so the work on them is not lost.
#[derive(Clone, Debug, Default)]
pub struct StopSignal {
    /// Empty until the signal is set; it may be set without a reason.
    reason: Arc<OnceLock<Option<String>>>,
}

impl StopSignal {
    /// Makes a signal that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the signal with a reason. The first call wins.
    pub fn stop(&self, reason: impl Into<String>) {
        self.reason.get_or_init(|| Some(reason.into()));
    }

    /// Sets the signal without a reason, for a user's interrupt. The first call wins, so a failure that follows from the
    /// interrupt does not become the reason.
    pub fn interrupt(&self) {
        self.reason.get_or_init(|| None);
    }

    /// The reason for the stop, if one was given.
    pub fn reason(&self) -> Option<String> {
        self.reason.get().cloned().flatten()
    }

    /// Whether the signal is set.
    pub fn is_set(&self) -> bool {
        self.reason.get().is_some()
    }
}
