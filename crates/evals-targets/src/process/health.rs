//! Decides whether a failing command is started again.

use std::sync::{Mutex, MutexGuard, PoisonError};

use super::fault::{WorkerError, WorkerFault};

/// Counts the failures of all processes of a pool since the last reply. Too many of them end the pool.
#[derive(Debug)]
pub(super) struct Health {
    limit: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    in_a_row: usize,
    given_up: Option<WorkerError>,
}

impl Health {
    /// Gives up after `limit` failures in a row.
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            state: Mutex::default(),
        }
    }

    /// The error that ended the pool.
    pub(super) fn given_up(&self) -> Option<WorkerError> {
        self.lock().given_up.clone()
    }

    /// Notes a reply.
    pub(super) fn replied(&self) {
        self.lock().in_a_row = 0;
    }

    /// Notes that a process failed. The error that it returns is the one to report: one that ends the pool once the limit is
    /// reached, or where no start can help.
    pub(super) fn failed(&self, error: WorkerError) -> WorkerError {
        let mut state = self.lock();
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
