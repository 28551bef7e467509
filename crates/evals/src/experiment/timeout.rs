//! How long a case may take.

use std::time::Duration;

use tokio::time::{Instant, timeout_at};

use crate::{EvaluatorError, FailureClass, TaskError, TaskFailure};

/// How long each case may take, its task and its evaluators together, and in which words a failure says so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaseTimeout {
    limit: Duration,
    task: String,
    setting: Option<String>,
}

impl CaseTimeout {
    /// A limit for the whole of each case.
    pub fn new(limit: Duration) -> Self {
        Self {
            limit,
            task: "the task".to_owned(),
            setting: None,
        }
    }

    /// What messages call the task, such as `answering`; `the task` by default.
    #[must_use]
    pub fn task(self, name: impl Into<String>) -> Self {
        let task = name.into();
        Self { task, ..self }
    }

    /// The setting that messages name as the place where the limit can be changed.
    #[must_use]
    pub fn setting(self, name: impl Into<String>) -> Self {
        let setting = Some(name.into());
        Self { setting, ..self }
    }

    fn of_task(&self) -> String {
        let Self { limit, task, .. } = self;
        let limit = limit.as_secs_f64();
        format!("{task} was not done within {limit} s{}", self.hint())
    }

    fn of_evaluator(&self, task: Duration) -> String {
        format!(
            "it was not done when the case had taken {} s, {} {:.1} s of it{}",
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

/// The time of one case, from its beginning.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock<'t> {
    /// When it is up; `None` where it never is.
    up: Option<(Instant, &'t CaseTimeout)>,
}

impl<'t> Clock<'t> {
    pub(super) fn start(timeout: Option<&'t CaseTimeout>) -> Self {
        // A limit beyond the clock's range is none.
        let up = timeout.and_then(|it| Some((Instant::now().checked_add(it.limit)?, it)));
        Self { up }
    }

    /// Gives the task up when the time is up.
    pub(super) async fn task<T>(
        self,
        attempt: impl Future<Output = Result<T, TaskFailure>>,
    ) -> Result<T, TaskFailure> {
        let Some((moment, timeout)) = self.up else {
            return attempt.await;
        };
        timeout_at(moment, attempt).await.unwrap_or_else(|_| {
            let error = TaskError::new(timeout.of_task()).classed(FailureClass::Transient);
            Err(TaskFailure::from_error(&error))
        })
    }

    /// Gives an evaluator up when the time is up. `task` is how long the task took.
    pub(super) async fn evaluator<T>(
        self,
        evaluation: impl Future<Output = T>,
        task: Duration,
    ) -> Result<T, EvaluatorError> {
        let Some((moment, timeout)) = self.up else {
            return Ok(evaluation.await);
        };
        timeout_at(moment, evaluation).await.map_err(|_| {
            EvaluatorError::new(timeout.of_evaluator(task)).classed(FailureClass::Transient)
        })
    }
}
