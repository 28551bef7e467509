//! Decides whether a finished case counts, and reports it.

use std::num::NonZeroUsize;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use evals_guard::panics;
use evals_messages::{chain, quantity};
use futures::FutureExt as _;

use super::audience::Audience;
use crate::{CaseReport, Domain, Event, FailureClass, Journal, StopSignal};

/// Decides whether a finished case counts, and reports it to journal and observers.
pub(super) struct Completion<D: Domain> {
    pub(super) audience: Audience<D>,
    pub(super) stop: StopSignal,
    pub(super) journal: Option<Arc<dyn Journal<D>>>,
    /// The number of failed cases that stops the run.
    pub(super) max_failures: Option<NonZeroUsize>,
    /// The number of cases that failed since the process started; those of an earlier, resumed run do not count.
    pub(super) failed: AtomicUsize,
}

/// One finished case and its place in the report.
pub(super) struct Finished<D: Domain> {
    pub(super) position: usize,
    pub(super) report: CaseReport<D>,
}

impl<D: Domain> Completion<D> {
    /// Adds a case to the journal and to the report. If its failure stops the run, the case counts as not run instead, and a
    /// resumed run tries it again.
    pub(super) async fn complete(
        &self,
        position: usize,
        report: CaseReport<D>,
    ) -> Option<Finished<D>> {
        if let Some(message) = terminal_failure(&report) {
            self.stop.stop(message);
            return None;
        }
        if let Err(message) = self.keep(&report).await {
            self.stop.stop(message);
            return None;
        }
        self.audience.report(Event::CaseFinished {
            report: &report,
            position,
        });
        if report.result.failure().is_some() {
            self.count_failure();
        }
        Some(Finished { position, report })
    }

    /// Stops the run if too many cases have failed.
    fn count_failure(&self) {
        let failed = self.failed.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(most) = self.max_failures
            && failed >= most.get()
        {
            let cases = quantity::of(most.get(), "case");
            self.stop
                .stop(format!("{cases} failed, which is the limit"));
        }
    }

    /// Appends a case to the journal, and returns the message of a failure.
    async fn keep(&self, report: &CaseReport<D>) -> Result<(), String> {
        let Some(journal) = &self.journal else {
            return Ok(());
        };
        let append = async { journal.append(report).await };
        match AssertUnwindSafe(append).catch_unwind().await {
            Ok(kept) => kept.map_err(|error| chain(&error)),
            Err(payload) => Err(format!("journal: {}", panics::message(&*payload))),
        }
    }
}

/// The message of the first failure that would repeat in every other case.
fn terminal_failure<D: Domain>(report: &CaseReport<D>) -> Option<&str> {
    let task = report.result.failure().into_iter();
    let task = task.map(|failure| (failure.class, &failure.message));
    let evaluators = report.evaluator_failures.iter();
    let evaluators = evaluators.map(|failure| (failure.class, &failure.message));
    task.chain(evaluators)
        .find(|(class, _)| *class == Some(FailureClass::Terminal))
        .map(|(_, message)| message.as_str())
}
