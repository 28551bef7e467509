//! The time limit of a case.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::{EvaluatorError, FailureClass, TaskError, TaskFailure};

/// The time limit of each case, its task and its evaluators together, and the names of the task and the setting in failure
/// messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseTimeout {
    limit: Duration,
    task: String,
    setting: Option<String>,
}

impl CaseTimeout {
    /// Limits each case as a whole.
    pub fn new(limit: Duration) -> Self {
        Self {
            limit,
            task: "the task".to_owned(),
            setting: None,
        }
    }

    /// Sets the task's name in messages, such as `answering`; `the task` by default.
    #[must_use]
    pub fn task(self, name: impl Into<String>) -> Self {
        let task = name.into();
        Self { task, ..self }
    }

    /// Sets the setting that messages name as the one that changes the limit.
    #[must_use]
    pub fn setting(self, name: impl Into<String>) -> Self {
        let setting = Some(name.into());
        Self { setting, ..self }
    }

    fn of_task(&self) -> String {
        let Self { limit, task, .. } = self;
        let limit = limit.as_secs_f64();
        format!("{task} did not finish within {limit} s{}", self.hint())
    }

    /// `step` is a hook of the case in words.
    fn of_hook(&self, step: &str) -> String {
        let limit = self.limit.as_secs_f64();
        format!("{step} did not finish within {limit} s{}", self.hint())
    }

    fn of_evaluator(&self, task: Duration) -> String {
        format!(
            "it did not finish within the {} s of the case, of which {} took {:.1} s{}",
            self.limit.as_secs_f64(),
            self.task,
            task.as_secs_f64(),
            self.hint()
        )
    }

    fn hint(&self) -> String {
        let hint = |setting: &String| format!("; `{setting}` sets how long a case may take");
        self.setting.as_ref().map(hint).unwrap_or_default()
    }
}

/// The clock of one case, started with its setup.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock<'t> {
    /// The deadline; `None` without a limit.
    up: Option<(Instant, &'t CaseTimeout)>,
}

impl<'t> Clock<'t> {
    pub(super) fn start(timeout: Option<&'t CaseTimeout>) -> Self {
        // A limit beyond the range of the clock counts as none.
        let up = timeout.and_then(|it| Some((Instant::now().checked_add(it.limit)?, it)));
        Self { up }
    }

    /// Runs a hook, and drops it when the time is up.
    pub(super) async fn step<T>(
        self,
        step: &str,
        hook: impl Future<Output = Result<T, TaskFailure>>,
    ) -> Result<T, TaskFailure> {
        self.limited(hook, |timeout| timeout.of_hook(step)).await
    }

    /// Runs all attempts at the task, and drops them when the time is up.
    pub(super) async fn task<T>(
        self,
        attempt: impl Future<Output = Result<T, TaskFailure>>,
    ) -> Result<T, TaskFailure> {
        self.limited(attempt, CaseTimeout::of_task).await
    }

    async fn limited<T>(
        self,
        step: impl Future<Output = Result<T, TaskFailure>>,
        message: impl FnOnce(&CaseTimeout) -> String,
    ) -> Result<T, TaskFailure> {
        let Some((moment, timeout)) = self.up else {
            return step.await;
        };
        match timeout_at(moment, step).await {
            Ok(Err(failure)) if is_late(failure.class, moment) => {}
            Ok(result) => return result,
            Err(_) => {}
        }
        let error = TaskError::new(message(timeout)).classed(FailureClass::Transient);
        Err(TaskFailure::from_error(&error))
    }

    /// Runs an evaluator, and drops it when the time is up. `task` is how long the task took; `class` names the class of a failure
    /// without outcomes.
    pub(super) async fn evaluator<T>(
        self,
        evaluation: impl Future<Output = T>,
        task: Duration,
        class: impl FnOnce(&T) -> Option<FailureClass>,
    ) -> Result<T, EvaluatorError> {
        let Some((moment, timeout)) = self.up else {
            return Ok(evaluation.await);
        };
        match timeout_at(moment, evaluation).await {
            Ok(judgement) if !is_late(class(&judgement), moment) => Ok(judgement),
            _ => {
                Err(EvaluatorError::new(timeout.of_evaluator(task))
                    .classed(FailureClass::Transient))
            }
        }
    }
}

/// Whether a failure of this class is that of a step that the end of the case's time ended, although the step noticed first.
///
/// A step may hand its deadline down to what it calls, and both clocks then ring at once. The case's message names the setting.
fn is_late(class: Option<FailureClass>, deadline: Instant) -> bool {
    class == Some(FailureClass::Transient) && Instant::now() >= deadline
}
