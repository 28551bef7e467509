//! What a task is given besides its case, and how it fails.

use std::error::Error;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::{Recording, Timing};

/// Collects what one run of a task notes down. Clones write to the same run.
#[derive(Clone, Debug, Default)]
pub struct TaskScope {
    recording: Arc<Mutex<Recording>>,
}

impl TaskScope {
    /// Records how long a stage took. A stage recorded twice counts as two samples.
    pub fn timing(&self, stage: impl Into<String>, duration: Duration) {
        self.push(stage.into(), duration, false);
    }

    /// Records how long the original call of a stage took whose result now came from a cache.
    pub fn cached_timing(&self, stage: impl Into<String>, duration: Duration) {
        self.push(stage.into(), duration, true);
    }

    /// Records a number; the last one of a name stays. A number that is not finite makes the case fail.
    pub fn metric(&self, name: impl Into<String>, value: f64) {
        self.lock().metrics.insert(name.into(), value);
    }

    /// Records any JSON value; the last one of a name stays.
    pub fn attribute(&self, name: impl Into<String>, value: impl Into<serde_json::Value>) {
        self.lock().attributes.insert(name.into(), value.into());
    }

    /// Takes what was recorded so far and leaves nothing.
    pub fn take(&self) -> Recording {
        mem::take(&mut *self.lock())
    }

    fn push(&self, stage: String, duration: Duration, cached: bool) {
        self.lock().timings.push(Timing {
            stage,
            duration,
            cached,
        });
    }

    fn lock(&self) -> MutexGuard<'_, Recording> {
        // Every write is a single insertion, so a panic in between leaves a whole recording.
        self.recording
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a task has no output.
///
/// Wraps any error, so that `?` works on all of them; for the same reason it is not itself a [`std::error::Error`].
#[derive(Debug)]
pub struct TaskError(Box<dyn Error + Send + Sync>);

impl TaskError {
    /// Makes an error from a message or a boxed error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(error.into())
    }

    /// The wrapped error.
    pub fn get_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.0
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for TaskError {
    fn from(error: E) -> Self {
        Self(Box::new(error))
    }
}
