//! Ending a run early without losing what is under way.

use std::sync::{Arc, OnceLock};

/// Tells a run to start no further case. Clones are the same signal.
///
/// Unlike a cancellation it lets the running cases finish: what they have cost so far is not thrown away.
#[derive(Clone, Debug, Default)]
pub struct StopSignal {
    reason: Arc<OnceLock<String>>,
}

impl StopSignal {
    /// A signal that is not set.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the signal. The first reason stays.
    pub fn stop(&self, reason: impl Into<String>) {
        self.reason.get_or_init(|| reason.into());
    }

    /// Why the run is to stop, if it is.
    pub fn reason(&self) -> Option<String> {
        self.reason.get().cloned()
    }

    /// Whether the signal is set.
    pub fn is_set(&self) -> bool {
        self.reason.get().is_some()
    }
}
