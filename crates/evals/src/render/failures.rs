//! The first failures of a report.

use evals_messages::visible::single_line;

use crate::{Domain, Report};

/// Enough to show what went wrong without crowding out the numbers.
const SHOWN: usize = 5;

/// Failed tasks first, then failed evaluators, then metrics and teardowns, each in dataset order, then report evaluators and observers.
#[derive(Debug)]
pub(super) struct Failures {
    /// The number of failures.
    pub(super) total: usize,
    /// The place and reason of the first few.
    pub(super) first: Vec<(String, String)>,
}

impl Failures {
    pub(super) fn of<D: Domain>(report: &Report<D>) -> Self {
        let tasks = report.cases.iter().filter_map(|case| {
            let failure = case.result.failure()?;
            Some((case.label(report.repeat), &failure.message))
        });
        let evaluators = report.cases.iter().flat_map(|case| {
            let place = case.label(report.repeat);
            case.evaluator_failures
                .iter()
                .map(move |failure| (format!("{place}, {}", failure.evaluator), &failure.message))
        });
        let metrics = report.cases.iter().flat_map(|case| {
            let place = case.label(report.repeat);
            case.undefined_metrics
                .iter()
                .map(move |(name, reason)| (format!("{place}, metric {name}"), reason))
        });
        let teardowns = report.cases.iter().filter_map(|case| {
            let failure = case.teardown_failure.as_ref()?;
            let place = format!("{}, teardown", case.label(report.repeat));
            Some((place, &failure.message))
        });
        let observers = report.observer_failures.iter();
        let observers = observers.map(|message| ("observer".to_owned(), message));
        let analyses = report.report_evaluator_failures.iter();
        let analyses = analyses.map(|failure| (failure.evaluator.clone(), &failure.message));
        let mut total = 0;
        let mut first = Vec::new();
        for (place, message) in tasks
            .chain(evaluators)
            .chain(metrics)
            .chain(teardowns)
            .chain(analyses)
            .chain(observers)
        {
            total += 1;
            if first.len() < SHOWN {
                first.push((single_line(&place), single_line(message)));
            }
        }
        Self { total, first }
    }

    /// The number of failures not listed.
    pub(super) fn more(&self) -> usize {
        self.total - self.first.len()
    }
}
