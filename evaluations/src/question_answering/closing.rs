//! Finishes a question answering run: completes and writes the report, prints notes and chooses the exit code.

use std::sync::Arc;

use anyhow::Result;
use evals::{Report, Summary};
use evals_metrics::Bootstrap;
use evals_providers::Traffic;
use evals_rag::prices::Prices;
use evals_rag::qa::Qa;

use super::costs::{self, Attempts, Costs};
use super::model_set::ModelSet;
use crate::calibrations::{CalibrationStore, RunCorrections};
use crate::case_selection::SelectionRecord;
use crate::exit::Exit;
use crate::failure_limit::FailureLimit;
use crate::groups::add_groups;
use crate::judged_by::JudgeRecords;
use crate::out_file::OutFile;
use crate::page::{Documents, PageSource, RunPage};
use crate::run_ending::{Ending, Reached};
use crate::run_folder::RunFolder;
use crate::spending::Spending;
use crate::terminal::{Printer, report_text, table_text};

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
    /// The options that chose the questions, if any did, and the number of questions.
    pub(crate) selection: Option<(&'c SelectionRecord, usize)>,
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
        let corrections = RunCorrections::of(self.printer, &self.calibrations, &folder, &report);
        folder.write_report(&report, &summary, &corrections.tables())?;
        let source = PageSource {
            corrections: corrections.tables(),
            corrected: corrections.in_lines(),
            ..PageSource::of_run(&folder, self.seed, Documents::none())
        };
        let page = RunPage {
            report: &report,
            summary: &summary,
            source: &source,
        };
        self.printer.warn_of(page.write_into(&folder).as_deref());
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
        let mut text = report_text(printer, &self.report, &self.summary)?;
        for table in &self.source.corrections {
            text.push('\n');
            text.push_str(&table_text(printer, table));
        }
        Ok(text)
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
        (JudgeRecords::KEY, serde_json::to_value(&model_set.judges)?),
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
