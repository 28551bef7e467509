//! The scope that a task records into, and the error that it returns, with its class.

use std::error::Error;
use std::mem;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::recording::{Ledger, Metric, Notes};
use crate::{Recording, Span, Timing};

/// The attribute of a case whose duration says nothing about its task.
pub(crate) const UNTIMED: &str = "untimed";

/// Collects the recordings of one run of a task or an evaluator. Clones write to the same run.
#[derive(Clone, Debug)]
pub struct TaskScope {
    notes: Arc<Mutex<Notes>>,
    repeat: u32,
}

/// The scope of a first repetition, for testing a task on its own.
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

    /// Records how long a stage took. A stage that is recorded twice counts as two samples.
    pub fn timing(&self, stage: impl Into<String>, duration: Duration) {
        self.push(stage.into(), duration, false);
    }

    /// Records the duration of the original call, for a stage whose result came from a cache.
    pub fn cached_timing(&self, stage: impl Into<String>, duration: Duration) {
        self.push(stage.into(), duration, true);
    }

    /// Records a number; the last one of a name counts. A number that is not finite goes to
    /// [`undefined_metrics`](crate::CaseReport::undefined_metrics) in the report instead; the case does not fail.
    pub fn metric(&self, name: impl Into<String>, value: f64) {
        self.lock().metrics.insert(name.into(), Metric::Is(value));
    }

    /// Adds to the number of this name, or to 0 if there is none yet. An evaluator adds to the number that the task and the
    /// evaluators before it recorded.
    pub fn add_metric(&self, name: impl Into<String>, value: f64) {
        self.lock().add_metric(name.into(), value);
    }

    /// Records any JSON value; the last one of a name counts.
    pub fn attribute(&self, name: impl Into<String>, value: impl Into<serde_json::Value>) {
        self.lock().attributes.insert(name.into(), value.into());
    }

    /// Records a finished step with the steps inside it. They follow those recorded before.
    pub fn span(&self, span: Span) {
        self.lock().spans.get_or_insert_default().push(span);
    }

    /// Declares that the task records its steps, even if it has none in this case: an evaluator can then tell "no step" from
    /// "not recorded".
    pub fn records_spans(&self) {
        self.lock().spans.get_or_insert_default();
    }

    /// Leaves a part of the time since the task began out of the [duration](crate::Context::duration) of the case: a time in which the
    /// system under test could not work yet, because it was still starting. An evaluator has no duration, so there it does nothing.
    pub fn leave_out(&self, duration: Duration) {
        self.lock().left_out += duration;
    }

    /// Sets the [duration](crate::Context::duration) of the case, in place of the time since the task began: for a task that waits before its
    /// system works, or whose result was recorded before. The last one counts. An evaluator has no duration, so there it does nothing.
    pub fn took(&self, duration: Duration) {
        self.lock().took = Some(duration);
    }

    /// Declares that this run says nothing about how long the task takes, and why: its work was done before, together with that of
    /// other cases. The case then has the attribute [`CaseReport::UNTIMED`](crate::CaseReport::UNTIMED), and its duration is no sample of the task's
    /// time.
    pub fn untimed(&self, reason: &str) {
        self.attribute(UNTIMED, reason);
    }

    /// Takes everything recorded so far, without metrics that are not finite, and leaves the scope empty.
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
        // Every write is a single insertion, so a panic leaves the notes intact.
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

    /// Sets the consequence of the error for the remaining cases.
    #[must_use]
    pub fn classed(mut self, class: FailureClass) -> Self {
        self.class = Some(class);
        self
    }

    /// The consequence of the error for the remaining cases, where it is known.
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

tokio::task_local! {
    static CURRENT: TaskScope;
}

/// The scope of the task that this code runs in; `None` outside a task.
///
/// Only the task's own future has the scope. If the task spawns a tokio task or a thread, pass it a clone of the scope, or use
/// [`TaskScope::within`].
pub fn current_scope() -> Option<TaskScope> {
    CURRENT.try_with(Clone::clone).ok()
}

/// Records an attribute in the task that this code runs in, as [`TaskScope::attribute`] does. Does nothing outside a task.
pub fn set_attribute(name: impl Into<String>, value: impl Into<serde_json::Value>) {
    if let Some(scope) = current_scope() {
        scope.attribute(name, value);
    }
}

/// Adds to a metric of the task that this code runs in, as [`TaskScope::add_metric`] does. Does nothing outside a task.
pub fn add_metric(name: impl Into<String>, value: f64) {
    if let Some(scope) = current_scope() {
        scope.add_metric(name, value);
    }
}

impl TaskScope {
    /// Runs code for which this scope is the [current one](current_scope), such as a part of the task that runs on another thread.
    pub async fn within<R>(&self, code: impl Future<Output = R>) -> R {
        CURRENT.scope(self.clone(), code).await
    }
}

/// The consequence of a failure for the remaining cases.
///
/// A task or an evaluator that knows the class adds it to its error: [`TaskError::classed`](crate::TaskError::classed),
/// [`EvaluatorError::classed`](crate::EvaluatorError::classed).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FailureClass {
    /// It may go away by itself: a timeout, a busy server.
    Transient,
    /// Every other case will fail in the same way: a wrong key, an empty account.
    Terminal,
    /// It affects only this case: an answer that cannot be read.
    Content,
}
