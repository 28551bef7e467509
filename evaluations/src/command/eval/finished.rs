//! A run of a dataset file whose report is written: what is printed of it, and the exit code.

use anyhow::Result;
use evals::render::Cases;
use evals::{Report, Summary, render};
use evals_evaluators::Untyped;
use evals_messages::quantity;

use crate::cli::EvalShownArgs;
use crate::exit::Exit;
use crate::failure_limit::FailureLimit;
use crate::out_file::OutFile;
use crate::resumption::is_transient;
use crate::run_folder::{RunFailure, RunFolder};
use crate::targets::Replies;
use crate::terminal::{Printer, console, report_text, text};

/// A run whose report is written, complete or not.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) report: Report<Untyped>,
    pub(super) summary: Summary,
    pub(super) folder: RunFolder,
    /// Where the replies of the target are.
    pub(super) replies: Replies,
    outcome: Outcome,
}

/// Why a run may have ended early.
#[derive(Debug, Clone, Copy)]
pub(super) struct Outcome {
    /// As many cases failed as `--max-failures` allows.
    pub(super) too_many_failed: bool,
    /// The judges have cost the `--budget`.
    pub(super) budget_spent: bool,
}

impl Finished {
    /// Writes the reports to the run's folder. `report.json` comes last, so a folder that has it is complete.
    pub(super) fn write(
        report: Report<Untyped>,
        summary: Summary,
        folder: RunFolder,
        outcome: Outcome,
        replies: Replies,
    ) -> Result<Self> {
        folder.write("report.md", |file| {
            render::markdown::report(file, &report, &summary)
        })?;
        folder.write("report.json", |file| {
            render::json::report(file, &report, &summary)
        })?;
        Ok(Self {
            report,
            summary,
            folder,
            replies,
            outcome,
        })
    }

    /// The report and its cases as text for the terminal.
    pub(super) fn text(&self, printer: &Printer, shown: &EvalShownArgs) -> Result<String> {
        let mut page = report_text(printer, &self.report, &self.summary)?;
        let cases = Cases {
            most: shown.most,
            reasons: shown.reasons,
        };
        page += &text(|out| console(printer).cases(out, &self.report, cases))?;
        Ok(page)
    }

    /// Writes `files`, prints notes on missing and failed cases, and returns the exit code.
    pub(super) fn close(
        &self,
        printer: &Printer,
        files: &[OutFile],
        is_interrupted: bool,
    ) -> Result<Exit> {
        printer.detail(&format!("report in {}", self.folder.path().display()));
        for file in files {
            file.eval_report(&self.report, &self.summary)?;
            printer.note(&format!("wrote {file}"));
        }
        self.folder.note_failures(printer, &self.report);
        // A signal after the last case has interrupted nothing.
        if is_interrupted && self.report.not_run > 0 {
            printer.note("interrupted; run the same command again to resume");
            return Ok(Exit::Interrupted);
        }
        if let Some(reason) = &self.report.stopped {
            let not_run = quantity::of(self.report.not_run, "case");
            let advice = if self.outcome.too_many_failed {
                FailureLimit::RESUME
            } else {
                ""
            };
            printer.failure(&format!(
                "stopped early, {not_run} not run: {reason}{advice}"
            ));
            let is_expected = self.outcome.too_many_failed || self.outcome.budget_spent;
            return Ok(if is_expected {
                Exit::CheckFailed
            } else {
                Exit::CouldNot
            });
        }
        let cases = self.report.cases.iter();
        let transient = cases.filter(|case| is_transient(case)).count();
        if transient > 0 {
            printer.warn(&format!(
                "{} failed for a temporary reason; run the same command again to retry",
                quantity::of(transient, "case")
            ));
        }
        if let Some(message) = RunFailure::message(&self.summary) {
            printer.failure(&message);
            return Ok(Exit::CheckFailed);
        }
        Ok(Exit::Done)
    }
}
