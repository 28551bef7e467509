//! How a run with a written report ended: the notes on cases that are missing or failed, and the exit code.

use evals::{Domain, Report, Summary};
use evals_messages::quantity;
use evals_runs::run_folder::RunFailure;
use evals_terminal::Printer;

use crate::exit::Exit;
use crate::resumption::is_transient;

/// The limits of a run that were reached. A run that one of them stopped did as the user wanted.
#[derive(Debug, Clone, Copy, Default)]
pub struct Reached {
    /// As many cases failed as `--max-failures` allows.
    pub(crate) failures: bool,
    /// The calls cost as much as `--budget` allows.
    pub(crate) budget: bool,
}

impl Reached {
    /// The exit code of a run that was stopped.
    pub(crate) fn exit(self) -> Exit {
        if self.failures || self.budget {
            Exit::CheckFailed
        } else {
            // The user has to fix an error first.
            Exit::CouldNot
        }
    }
}

/// The end of one run.
#[derive(Debug)]
pub(crate) struct Ending<'r> {
    not_run: usize,
    /// The reason of a stop before all cases had run.
    stopped: Option<&'r str>,
    reached: Reached,
    /// Cases with temporary failures.
    transient_failures: usize,
    /// The message about cases or evaluators that failed in every case.
    failure: Option<String>,
}

impl<'r> Ending<'r> {
    /// The end of the run with this report.
    pub(crate) fn of<D: Domain>(
        report: &'r Report<D>,
        summary: &Summary,
        reached: Reached,
    ) -> Self {
        let transient = report.cases.iter().filter(|case| is_transient(case));
        Self {
            not_run: report.not_run,
            stopped: report.stopped.as_deref(),
            reached,
            transient_failures: transient.count(),
            failure: RunFailure::message(summary),
        }
    }

    /// Whether the same command, given again, would run no case.
    pub(crate) fn is_settled(&self) -> bool {
        self.not_run == 0 && self.transient_failures == 0
    }

    /// Prints notes on cases that did not run or failed, and returns the exit code.
    pub(crate) fn note(&self, printer: &Printer, is_interrupted: bool) -> Exit {
        // A signal after the last case has interrupted nothing.
        if is_interrupted && self.not_run > 0 {
            printer.note("interrupted; run the same command again to resume");
            return Exit::Interrupted;
        }
        if let Some(reason) = self.stopped {
            return self.note_stop(printer, reason);
        }
        if self.transient_failures > 0 {
            printer.warn(&format!(
                "{} failed for a temporary reason; run the same command again to retry",
                quantity::of(self.transient_failures, "case")
            ));
        }
        let Some(message) = &self.failure else {
            return Exit::Done;
        };
        printer.failure(message);
        Exit::CheckFailed
    }

    /// Prints why the run was stopped before all cases had run, and returns the exit code.
    pub(crate) fn note_stop(&self, printer: &Printer, reason: &str) -> Exit {
        let not_run = quantity::of(self.not_run, "case");
        let advice = if self.reached.failures {
            " (`--max-failures`); run the same command again to resume"
        } else {
            ""
        };
        printer.failure(&format!(
            "stopped early, {not_run} not run: {reason}{advice}"
        ));
        self.reached.exit()
    }
}
