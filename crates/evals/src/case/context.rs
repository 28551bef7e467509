//! The context of an evaluator: the case, the task's output and what the task recorded.

use std::time::Duration;

use super::Case;
use crate::task::UNTIMED;
use crate::{Domain, Recording, TaskScope};

/// One finished run of the task, as its evaluators see it.
#[derive(Clone, Debug)]
pub struct Context<'a, D: Domain> {
    /// The case that was run.
    pub case: &'a Case<D>,
    /// The task's output.
    pub output: &'a D::Output,
    /// Which repetition this is, from 1.
    pub repeat: u32,
    /// How long the task took.
    pub duration: Duration,
    /// Stage timings, metrics and attributes that the task recorded.
    pub recording: &'a Recording,
    /// Where the evaluator records timings, metrics and attributes of its own. In the case's report they follow those of the
    /// task, in the order of the case's evaluators, whichever finished first. A metric or an attribute replaces an earlier
    /// one of the same name. Other evaluators do not see them.
    pub scope: TaskScope,
}

impl<'a, D: Domain> Context<'a, D> {
    /// Makes the context of a first repetition that took no time and recorded nothing, for testing an evaluator on its own.
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

    /// Why the [duration](Self::duration) says nothing about the task, if the task [declared](TaskScope::untimed) so.
    pub fn untimed(&self) -> Option<&'a str> {
        self.recording.attributes.get(UNTIMED)?.as_str()
    }
}
