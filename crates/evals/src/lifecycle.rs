//! Hooks around each run of a case.

use std::time::Duration;

use async_trait::async_trait;

use crate::{Case, CaseReport, Domain, Recording, TaskError};

/// Set-up and clean-up around the task of each case, such as filling a database, or opening and closing a session.
///
/// The runner makes a new one for every repetition of every case, so it may hold what the case opened. Retries of the task
/// share it.
#[async_trait]
pub trait Lifecycle<D: Domain>: Send {
    /// Runs before the task. An error is the failure of the case, and the task does not run.
    async fn setup(&mut self, _case: &Case<D>) -> Result<(), TaskError> {
        Ok(())
    }

    /// Runs after a task that succeeded, before the evaluators. An error is the failure of the case, and no evaluator runs.
    async fn prepare_context(&mut self, _prepared: &mut Prepared<'_, D>) -> Result<(), TaskError> {
        Ok(())
    }

    /// Runs last, whatever happened before. An error is kept in [`CaseReport::teardown_failure`]; the case does not fail.
    ///
    /// `report` holds everything but the failure of the teardown. It is `None` for a case that counts as not run, because the
    /// run was cancelled or stopped.
    async fn teardown(&mut self, _report: Option<&CaseReport<D>>) -> Result<(), TaskError> {
        Ok(())
    }
}

/// A finished task. What a hook changes here is what evaluators see and what the report holds.
#[derive(Debug)]
pub struct Prepared<'a, D: Domain> {
    /// The case that was run.
    pub case: &'a Case<D>,
    /// Which repetition this is, from 1.
    pub repeat: u32,
    /// How long the task took.
    pub duration: Duration,
    /// The task's output.
    pub output: &'a mut D::Output,
    /// The attributes, metrics and spans that the task recorded.
    pub recording: &'a mut Recording,
}
