//! Decides whether a failing command is started again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fault::{WorkerError, WorkerFault};

/// Counts the failures of all processes of a pool since the last reply. Too many of them end the pool.
#[derive(Debug)]
pub(super) struct Health {
    limit: usize,
    /// Whether processes are guarded, so that a faulty line may come from the graded text and says nothing about the command.
    is_guarded: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    in_a_row: usize,
    has_replied: bool,
    given_up: Option<WorkerError>,
}

impl Health {
    /// Gives up after `limit` failures in a row.
    pub(super) fn new(limit: usize, is_guarded: bool) -> Self {
        Self {
            limit,
            is_guarded,
            state: Mutex::default(),
        }
    }

    /// The error that ended the pool.
    pub(super) fn given_up(&self) -> Option<WorkerError> {
        self.lock().given_up.clone()
    }

    /// Notes a reply.
    pub(super) fn replied(&self) {
        let mut state = self.lock();
        state.in_a_row = 0;
        state.has_replied = true;
    }

    /// Whether to start the command again for the same request: until its first reply, nobody knows whether it can reply to any. It ends
    /// with the first reply to another request, or when the limit is reached.
    pub(super) fn starts_again(&self, fault: &WorkerFault) -> bool {
        let state = self.lock();
        let is_of_the_command = fault.ended_at_once() || fault.is_of_a_line() && !self.is_guarded;
        is_of_the_command && !state.has_replied && state.given_up.is_none()
    }

    /// Notes that a process failed. The error that it returns is the one to report: one that ends the pool once the limit is
    /// reached, or where no start can help.
    pub(super) fn failed(&self, error: WorkerError) -> WorkerError {
        let mut state = self.lock();
        if self.is_guarded && error.fault().is_of_a_line() {
            return error;
        }
        state.in_a_row += 1;
        if error.fault().is_hopeless() {
            state.given_up.get_or_insert_with(|| error.clone());
            return error;
        }
        if state.in_a_row < self.limit {
            return error;
        }
        let times = state.in_a_row;
        let given_up = state
            .given_up
            .get_or_insert_with(|| error.with(|last| WorkerFault::GivenUp { times, last }));
        given_up.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
