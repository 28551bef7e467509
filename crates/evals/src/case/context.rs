//! What an evaluator gets to see of a case.

use std::time::Duration;

use super::Case;
use crate::{Domain, Recording, TaskScope};

/// One finished run of the task, as its evaluators see it.
#[derive(Clone, Debug)]
pub struct Context<'a, D: Domain> {
    /// The case that was run.
    pub case: &'a Case<D>,
    /// What the task returned.
    pub output: &'a D::Output,
    /// Which repetition this is, from 1.
    pub repeat: u32,
    /// How long the task took.
    pub duration: Duration,
    /// Stage timings, metrics and attributes that the task recorded.
    pub recording: &'a Recording,
    /// Where the evaluator records timings, metrics and attributes of its own. They follow the task's in the case's report,
    /// evaluator by evaluator in the order in which the case has them, whichever was done first; a metric or an attribute of
    /// a name that is taken takes its place. Other evaluators do not see them.
    pub scope: TaskScope,
}

impl<'a, D: Domain> Context<'a, D> {
    /// A first repetition that took no time and recorded nothing; made for testing an evaluator on its own.
    pub fn new(case: &'a Case<D>, output: &'a D::Output) -> Self {
        Self {
            case,
            output,
            repeat: 1,
            duration: Duration::ZERO,
            recording: Recording::EMPTY,
            scope: TaskScope::default(),
        }
    }
}
