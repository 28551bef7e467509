//! Reports events to the observers of a run. An observer that panics must not harm the run.

use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex, PoisonError};

use evals_guard::panics;

use crate::{Domain, Event, Observer};

/// The observers of a run.
pub(super) struct Audience<D: Domain> {
    seats: Vec<Seat<D>>,
}

/// One observer, and the message of its panic if it panicked.
struct Seat<D: Domain> {
    observer: Arc<dyn Observer<D>>,
    panic: Mutex<Option<String>>,
}

impl<D: Domain> Audience<D> {
    pub(super) fn new(observers: Vec<Arc<dyn Observer<D>>>) -> Self {
        let seat = |observer| Seat {
            observer,
            panic: Mutex::new(None),
        };
        Self {
            seats: observers.into_iter().map(seat).collect(),
        }
    }

    /// Reports an event to every observer that has not panicked yet.
    pub(super) fn report(&self, event: Event<'_, D>) {
        for seat in &self.seats {
            seat.report(event);
        }
    }

    /// The panics, in the order of the observers.
    pub(super) fn failures(&self) -> Vec<String> {
        self.seats.iter().filter_map(Seat::panic).collect()
    }
}

impl<D: Domain> Seat<D> {
    fn report(&self, event: Event<'_, D>) {
        if self.panic().is_some() {
            return;
        }
        if let Err(payload) =
            panic::catch_unwind(AssertUnwindSafe(|| self.observer.on_event(event)))
        {
            let mut panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
            panic.get_or_insert_with(|| panics::message(&*payload));
        }
    }

    fn panic(&self) -> Option<String> {
        let panic = self.panic.lock().unwrap_or_else(PoisonError::into_inner);
        panic.clone()
    }
}
