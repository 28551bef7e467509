//! What a task is given besides its case, and how it fails.

use std::error::Error;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::recording::{Ledger, Metric, Notes};
use crate::{FailureClass, Recording, Timing};

/// Collects what one run of a task, or of an evaluator, notes down. Clones write to the same run.
#[derive(Clone, Debug)]
pub struct TaskScope {
    notes: Arc<Mutex<Notes>>,
    repeat: u32,
}

/// The scope of a first repetition; made for testing a task on its own.
impl Default for TaskScope {
    fn default() -> Self {
        Self::of_repeat(1)
    }
}

impl TaskScope {
    pub(crate) fn of_repeat(repeat: u32) -> Self {
        Self {
            notes: Arc::default(),
            repeat,
        }
    }

    /// Which repetition of the case this is, from 1.
    pub fn repeat(&self) -> u32 {
        self.repeat
    }

    /// Records how long a stage took. A stage recorded twice counts as two samples.
    pub fn timing(&self, stage: impl Into<String>, duration: Duration) {
        self.push(stage.into(), duration, false);
    }

    /// Records how long the original call of a stage took whose result now came from a cache.
    pub fn cached_timing(&self, stage: impl Into<String>, duration: Duration) {
        self.push(stage.into(), duration, true);
    }

    /// Records a number; the last one of a name stays. One that is not finite is not kept: the report says so in
    /// [`undefined_metrics`](crate::CaseReport::undefined_metrics), and the case is none the worse for it.
    pub fn metric(&self, name: impl Into<String>, value: f64) {
        self.lock().metrics.insert(name.into(), Metric::Is(value));
    }

    /// Adds to the number of that name, or to 0 where there is none yet. What an evaluator adds, it adds to what the task
    /// and the evaluators before it in the case's order recorded.
    pub fn add_metric(&self, name: impl Into<String>, value: f64) {
        self.lock().add_metric(name.into(), value);
    }

    /// Records any JSON value; the last one of a name stays.
    pub fn attribute(&self, name: impl Into<String>, value: impl Into<serde_json::Value>) {
        self.lock().attributes.insert(name.into(), value.into());
    }

    /// Takes what was recorded so far, metrics that are not finite excepted, and leaves nothing.
    pub fn take(&self) -> Recording {
        let mut ledger = Ledger::default();
        ledger.add(self.take_notes());
        ledger.recording
    }

    pub(crate) fn take_notes(&self) -> Notes {
        mem::take(&mut *self.lock())
    }

    fn push(&self, stage: String, duration: Duration, cached: bool) {
        self.lock().timings.push(Timing {
            stage,
            duration,
            cached,
        });
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        // Every write is a single insertion, so a panic in between leaves whole notes.
        self.notes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why a task has no output.
///
/// Wraps any error, so that `?` works on all of them; for the same reason it is not itself a [`std::error::Error`].
#[derive(Debug)]
pub struct TaskError {
    error: Box<dyn Error + Send + Sync>,
    class: Option<FailureClass>,
}

impl TaskError {
    /// Makes an error from a message or a boxed error.
    pub fn new(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            error: error.into(),
            class: None,
        }
    }

    /// Says what the error means for the cases that are still to come.
    #[must_use]
    pub fn classed(mut self, class: FailureClass) -> Self {
        self.class = Some(class);
        self
    }

    /// What the error means for the cases that are still to come, where that is known.
    pub fn class(&self) -> Option<FailureClass> {
        self.class
    }

    /// The wrapped error.
    pub fn get_ref(&self) -> &(dyn Error + Send + Sync + 'static) {
        &*self.error
    }
}

impl<E: Error + Send + Sync + 'static> From<E> for TaskError {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}
