//! The end of a question answering run: its figures on record, and what people are told of them.

use std::sync::Arc;

use anyhow::Result;
use evals::{Report, Summary, render};
use evals_metrics::Bootstrap;
use evals_providers::Traffic;
use evals_rag::prices::Prices;
use evals_rag::qa::Qa;

use super::costs::{self, Attempts};
use super::models::Cast;
use super::{facts, folder};
use crate::command::run::{OutFile, console, failures};
use crate::exit::Exit;
use crate::printer::Printer;
use crate::quantity;
use crate::run_folder::RunFolder;
use crate::spending::Spending;

/// What the figures of a run are made with, taken before its first case.
pub(super) struct Closing<'c> {
    pub(super) printer: &'c Printer,
    pub(super) cast: &'c Cast,
    pub(super) prices: Prices,
    pub(super) seed: u64,
    pub(super) spending: &'c Spending,
    pub(super) traffic: &'c [Arc<Traffic>],
    pub(super) attempts_before: Attempts,
}

impl Closing<'_> {
    /// Adds to `report` what it says about itself, and writes it to `folder`.
    pub(super) fn close(self, mut report: Report<Qa>, folder: RunFolder) -> Result<Finished> {
        let costs = costs::of(&report, self.cast, &self.prices);
        facts::add(&mut report, self.cast, &costs, self.seed)?;
        let summary = report.summary(&Bootstrap {
            seed: self.seed,
            ..Bootstrap::default()
        });
        record(&folder, &report, &summary)?;
        let attempts = Attempts::so_far(self.traffic).since(self.attempts_before);
        costs::note_calls(self.printer, self.cast, self.spending.calls(), attempts);
        let refused = report.stopped.is_some() && !self.spending.is_spent();
        let transient = report
            .cases
            .iter()
            .filter(|case| folder::is_transient(case));
        Ok(Finished {
            transient_failures: transient.count(),
            report,
            summary,
            folder,
            refused,
        })
    }
}

/// A finished run, as far as it came.
#[derive(Debug)]
pub(in super::super) struct Finished {
    pub(in super::super) report: Report<Qa>,
    pub(in super::super) summary: Summary,
    pub(in super::super) folder: RunFolder,
    /// Cases that failed for a reason that goes away by itself.
    pub(in super::super) transient_failures: usize,
    /// Whether something that has to be mended ended the run early.
    refused: bool,
}

impl Finished {
    /// Writes `files`, and says where everything is, what is missing, and whether the run went well.
    pub(in super::super) fn tell(
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
            file.report(&self.report, &self.summary)?;
            printer.note(&format!("wrote {file}"));
        }
        failures::locate(printer, &self.report, &self.folder);
        // A signal that came when everything was done has interrupted nothing.
        if interrupted && self.report.not_run > 0 {
            printer.note("interrupted; the same command goes on where this one stopped");
            return Ok(Exit::Interrupted);
        }
        if let Some(reason) = &self.report.stopped {
            printer.failure(&format!(
                "stopped early, {} not run: {reason}",
                quantity::of(self.report.not_run, "case")
            ));
            return Ok(if self.refused {
                Exit::CouldNot
            } else {
                Exit::CheckFailed
            });
        }
        Ok(failures::of_answers(printer, self))
    }

    /// The report as people read it.
    pub(in super::super) fn text(&self, printer: &Printer) -> Result<String> {
        Ok(console::report(printer, &self.report, &self.summary)?)
    }
}

/// Writes what was found. The report comes last: a folder that has one has everything.
fn record(folder: &RunFolder, report: &Report<Qa>, summary: &Summary) -> Result<()> {
    folder.write("report.md", |file| {
        render::markdown::report(file, report, summary)
    })?;
    folder.write("report.json", |file| {
        render::json::report(file, report, summary)
    })
}
