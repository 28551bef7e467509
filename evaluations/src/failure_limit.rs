//! The number of failed cases that ends a run.

use std::num::NonZeroUsize;

use evals::{CaseReport, Domain, Experiment};

/// The limit of one experiment's failures, as `--max-failures` sets it.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct FailureLimit {
    most: Option<NonZeroUsize>,
    /// Failures of earlier sessions, which do not count.
    before: usize,
}

impl FailureLimit {
    /// The advice after the reason of a stop.
    pub(crate) const RESUME: &str = " (`--max-failures`); run the same command again to resume";

    /// The limit of an experiment that resumes with these cases.
    pub(crate) fn new<D: Domain>(most: Option<NonZeroUsize>, resumed: &[CaseReport<D>]) -> Self {
        let before = failed(resumed);
        Self { most, before }
    }

    /// Stops an experiment at the limit.
    pub(crate) fn stop<D: Domain, T>(self, experiment: Experiment<D, T>) -> Experiment<D, T> {
        match self.most {
            Some(most) => experiment.max_failures(most),
            None => experiment,
        }
    }

    /// Whether these are the cases of an experiment that reached its limit.
    pub(crate) fn is_reached<D: Domain>(self, cases: &[CaseReport<D>]) -> bool {
        let failures = failed(cases).saturating_sub(self.before);
        self.most.is_some_and(|most| failures >= most.get())
    }
}

fn failed<D: Domain>(cases: &[CaseReport<D>]) -> usize {
    let failed = cases.iter().filter(|case| case.result.failure().is_some());
    failed.count()
}
