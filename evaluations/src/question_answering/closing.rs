//! Finishes a question answering run: completes and writes the report, prints notes and chooses the exit code.

use std::sync::Arc;

use anyhow::Result;
use evals::{Report, Summary, render};
use evals_messages::quantity;
use evals_metrics::Bootstrap;
use evals_providers::Traffic;
use evals_rag::prices::Prices;
use evals_rag::qa::Qa;

use super::costs::{self, Attempts, Costs};
use super::model_set::ModelSet;
use crate::case_selection::SelectionRecord;
use crate::exit::Exit;
use crate::failure_limit::FailureLimit;
use crate::groups::add_groups;
use crate::out_file::OutFile;
use crate::resumption::is_transient;
use crate::run_folder::{RunFailure, RunFolder};
use crate::spending::Spending;
use crate::terminal::{Printer, report_text};

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
    /// What chose the questions, if an option did, and the number of them.
    pub(crate) selection: Option<(&'c SelectionRecord, usize)>,
    /// The keys of metadata that the report is broken down by.
    pub(crate) group_by: &'c [String],
    /// Further lines below the title, before the others.
    pub(crate) facts: Vec<(String, String)>,
}

impl Closing<'_> {
    /// Adds models, costs and notes to `report`, and writes it to `folder`.
    pub(crate) fn close(self, mut report: Report<Qa>, folder: RunFolder) -> Result<Finished> {
        let costs = costs::of(&report, self.model_set, &self.prices);
        add_facts(
            &mut report,
            self.model_set,
            &costs,
            self.seed,
            self.selection,
            self.facts,
        )?;
        let bootstrap = Bootstrap {
            seed: self.seed,
            ..Bootstrap::default()
        };
        let summary = report.summary(&bootstrap);
        let summary = add_groups(self.printer, &report, summary, self.group_by, &bootstrap);
        record(&folder, &report, &summary)?;
        let attempts = Attempts::so_far(self.traffic).since(self.attempts_before);
        costs::note_calls(
            self.printer,
            self.model_set,
            self.spending.calls(),
            attempts,
        );
        let too_many_failed = self.failure_limit.is_reached(&report.cases);
        let is_expected = too_many_failed || self.spending.is_spent();
        let refused = report.stopped.is_some() && !is_expected;
        let transient = report.cases.iter().filter(|case| is_transient(case));
        Ok(Finished {
            transient_failures: transient.count(),
            report,
            summary,
            folder,
            too_many_failed,
            refused,
        })
    }
}

/// A run whose report is written, complete or not.
#[derive(Debug)]
pub(crate) struct Finished {
    report: Report<Qa>,
    summary: Summary,
    folder: RunFolder,
    /// Cases with temporary failures.
    transient_failures: usize,
    /// Whether as many cases failed as `--max-failures` allows.
    too_many_failed: bool,
    /// Whether an error that the user has to fix ended the run early.
    refused: bool,
}

impl Finished {
    /// Whether all cases ran and none would run again if the same command were given again.
    pub(crate) fn is_settled(&self) -> bool {
        self.report.not_run == 0 && self.transient_failures == 0
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
            file.report(&self.report, &self.summary)?;
            printer.note(&format!("wrote {file}"));
        }
        self.folder.note_failures(printer, &self.report);
        // A signal after the last case has interrupted nothing.
        if interrupted && self.report.not_run > 0 {
            printer.note("interrupted; run the same command again to resume");
            return Ok(Exit::Interrupted);
        }
        if let Some(reason) = &self.report.stopped {
            let advice = if self.too_many_failed {
                FailureLimit::RESUME
            } else {
                ""
            };
            printer.failure(&format!(
                "stopped early, {} not run: {reason}{advice}",
                quantity::of(self.report.not_run, "case")
            ));
            return Ok(if self.refused {
                Exit::CouldNot
            } else {
                Exit::CheckFailed
            });
        }
        Ok(self.note_failed_cases(printer))
    }

    /// Prints notes on failed cases, and says what failed in every case.
    fn note_failed_cases(&self, printer: &Printer) -> Exit {
        let transient = self.transient_failures;
        if transient > 0 {
            printer.warn(&format!(
                "{} failed for a temporary reason; run the same command again to retry",
                quantity::of(transient, "case")
            ));
        }
        let Some(message) = RunFailure::message(&self.summary) else {
            return Exit::Done;
        };
        printer.failure(&message);
        Exit::CheckFailed
    }

    /// The report as text for the terminal.
    pub(crate) fn text(&self, printer: &Printer) -> Result<String> {
        Ok(report_text(printer, &self.report, &self.summary)?)
    }
}

/// Adds models, parameters, prompts, seed and costs, each under its own key for programs, and as lines under `facts`, which
/// renderers print below the title.
fn add_facts(
    report: &mut Report<Qa>,
    model_set: &ModelSet,
    costs: &Costs,
    seed: u64,
    selection: Option<(&SelectionRecord, usize)>,
    mut facts: Vec<(String, String)>,
) -> Result<()> {
    if let Some((selection, asked)) = selection {
        facts.push(selection.fact(asked));
        let record = serde_json::to_value(selection)?;
        report
            .metadata
            .insert(SelectionRecord::KEY.to_owned(), record);
    }
    facts.extend(costs.lines());
    facts.extend(
        model_set
            .self_preference()
            .map(|warning| ("warning".to_owned(), warning)),
    );
    facts.extend(model_set.notes());
    if seed != 0 {
        facts.push(("seed".to_owned(), seed.to_string()));
    }
    let values = [
        ("seed", seed.into()),
        ("models", serde_json::to_value(&model_set.models)?),
        ("parameters", serde_json::to_value(&model_set.parameters)?),
        ("prompts", serde_json::to_value(&model_set.prompts)?),
        (
            "self_preference",
            serde_json::to_value(model_set.self_preference())?,
        ),
        ("notes", serde_json::to_value(model_set.notes())?),
        ("costs", serde_json::to_value(costs)?),
        ("facts", serde_json::to_value(facts)?),
    ];
    for (key, value) in values {
        report.metadata.insert(key.to_owned(), value);
    }
    Ok(())
}

/// Writes the reports. `report.json` comes last, so a folder that has it is complete.
fn record(folder: &RunFolder, report: &Report<Qa>, summary: &Summary) -> Result<()> {
    folder.write("report.md", |file| {
        render::markdown::report(file, report, summary)
    })?;
    folder.write("report.json", |file| {
        render::json::report(file, report, summary)
    })
}
