//! Finishes a question answering run: completes and writes the report, prints notes and chooses the exit code.

use std::sync::Arc;

use anyhow::Result;
use evals::{Report, Summary};
use evals_metrics::Bootstrap;
use evals_providers::Traffic;
use evals_rag::prices::Prices;
use evals_rag::qa::Qa;

use super::costs::{self, Attempts, Costs};
use super::facts::QaFacts;
use super::model_set::ModelSet;
use crate::calibrations::CalibrationStore;
use crate::case_selection::ChosenCases;
use crate::exit::Exit;
use crate::failure_limit::FailureLimit;
use crate::groups::add_groups;
use crate::out_file::OutFile;
use crate::page::PageSource;
use crate::run_ending::{Ending, Reached};
use crate::run_folder::RunFolder;
use crate::spending::Spending;
use crate::terminal::Printer;
use crate::written_run;

/// The inputs of the final report.
pub(crate) struct Closing<'c> {
    pub(crate) printer: &'c Printer,
    pub(crate) model_set: &'c ModelSet,
    pub(crate) prices: Prices,
    pub(crate) seed: u64,
    pub(crate) spending: &'c Spending,
    pub(crate) failure_limit: FailureLimit,
    pub(crate) traffic: &'c [Arc<Traffic>],
    pub(crate) attempts_before: Attempts,
    /// Which questions were asked.
    pub(crate) chosen: ChosenCases,
    /// The keys of metadata that the report is broken down by.
    pub(crate) group_by: &'c [String],
    /// Further lines below the title, before the others.
    pub(crate) facts: Vec<(String, String)>,
    /// The calibrations that may correct the accuracy.
    pub(crate) calibrations: CalibrationStore,
}

impl Closing<'_> {
    /// Adds models, costs and notes to `report`, and writes it to `folder`.
    pub(crate) fn close(self, mut report: Report<Qa>, folder: RunFolder) -> Result<Finished> {
        let costs = Costs::of(&report.cases, &self.model_set.models, &self.prices);
        let described = QaFacts {
            models: self.model_set.record(),
            costs,
            seed: self.seed,
            chosen: self.chosen,
            further: self.facts,
        };
        described.enter(&mut report)?;
        let bootstrap = Bootstrap {
            seed: self.seed,
            ..Bootstrap::default()
        };
        let summary = report.summary(&bootstrap);
        let summary = add_groups(self.printer, &report, summary, self.group_by, &bootstrap);
        let source = written_run::write(
            self.printer,
            &self.calibrations,
            &folder,
            self.seed,
            &report,
            &summary,
        )?;
        let attempts = Attempts::so_far(self.traffic).since(self.attempts_before);
        costs::note_calls(
            self.printer,
            self.model_set,
            self.spending.calls(),
            attempts,
        );
        let reached = Reached {
            failures: self.failure_limit.is_reached(&report.cases),
            budget: self.spending.is_spent(),
        };
        Ok(Finished {
            report,
            summary,
            folder,
            source,
            reached,
        })
    }
}

/// A run whose report is written, complete or not.
#[derive(Debug)]
pub(crate) struct Finished {
    report: Report<Qa>,
    summary: Summary,
    folder: RunFolder,
    source: PageSource,
    reached: Reached,
}

impl Finished {
    /// Whether the same command, given again, would run no case.
    pub(crate) fn is_settled(&self) -> bool {
        self.ending().is_settled()
    }

    fn ending(&self) -> Ending<'_> {
        Ending::of(&self.report, &self.summary, self.reached)
    }

    /// Writes `files`, prints notes on missing and failed cases, and returns the exit code.
    pub(crate) fn report(
        &self,
        printer: &Printer,
        files: &[OutFile],
        interrupted: bool,
    ) -> Result<Exit> {
        printer.detail(&format!(
            "answers: report in {}",
            self.folder.path().display()
        ));
        for file in files {
            file.report(printer, &self.report, &self.summary, &self.source)?;
            printer.note_file("wrote", file.path());
        }
        self.folder.note_files(printer, &self.report);
        Ok(self.ending().note(printer, interrupted))
    }

    /// The report as text for the terminal.
    pub(crate) fn text(&self, printer: &Printer) -> Result<String> {
        written_run::text(printer, &self.report, &self.summary, &self.source)
    }
}
