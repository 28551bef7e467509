//! Events of a running experiment, and the observers that follow them.

use crate::{Case, CaseReport, Domain};

/// Follows a running experiment: a progress bar, a log, a journal.
///
/// Called on the worker that ran the case, which takes up its next case only after the call returns; several workers call
/// at the same time. An observer that panics gets no further events; the run continues, and its report says so in
/// [`observer_failures`](crate::Report::observer_failures).
pub trait Observer<D: Domain>: Send + Sync {
    /// Receives an event.
    fn on_event(&self, event: Event<'_, D>);
}

/// A step of a running experiment.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a, D: Domain> {
    /// The run begins.
    Started {
        /// Name of the experiment.
        name: &'a str,
        /// How many runs of cases the report will have when nothing ends the run early: cases times repetitions.
        total: usize,
        /// How many of them an earlier session finished; no events follow for these.
        resumed: usize,
    },
    /// A case begins.
    CaseStarted {
        /// The case.
        case: &'a Case<D>,
        /// Which repetition this is, from 1.
        repeat: u32,
    },
    /// A case is done and judged. Cases that are dropped by a cancellation or that failed terminally
    /// never get here.
    CaseFinished {
        /// Everything that the final report will hold of it. The outcomes still have the names that their evaluators gave
        /// them: which ones have to be told apart is known at the end of the run.
        report: &'a CaseReport<D>,
        /// Its position in the final report of an uninterrupted run.
        position: usize,
    },
    /// The run is over.
    Finished {
        /// How many runs of cases a cancellation or a stop left out.
        not_run: usize,
    },
}
