//! Events of a running experiment, and the observers that follow them.

use crate::{Case, CaseReport, Domain};

/// Follows a running experiment: a progress bar, a log, a journal.
///
/// The worker that ran the case makes the call, and starts its next case only after the call returns. Several workers call
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
        /// The planned number of runs of cases: cases times repetitions.
        total: usize,
        /// How many of them an earlier session finished. They cause no events.
        resumed: usize,
    },
    /// A case begins.
    CaseStarted {
        /// The case.
        case: &'a Case<D>,
        /// Which repetition this is, from 1.
        repeat: u32,
    },
    /// A case is done and judged. Cases that a cancellation dropped or that failed terminally cause no such event.
    CaseFinished {
        /// The case as the final report will hold it. The outcomes still have the names that their evaluators gave them: the
        /// run numbers equal names at its end.
        report: &'a CaseReport<D>,
        /// Its position in the final report of an uninterrupted run.
        position: usize,
    },
    /// The run is over.
    Finished {
        /// How many runs of cases were skipped because of a cancellation or a stop.
        not_run: usize,
    },
}
