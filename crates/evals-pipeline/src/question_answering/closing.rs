//! Finishes a question answering run: completes and writes the report, and prints notes.

use std::sync::Arc;

use anyhow::Result;
use evals_providers::Traffic;
use evals_rag::prices::Prices;
use evals_rag::qa::Qa;
use evals_runs::run_folder::RunFolder;

use super::costs::{self, Attempts, Costs};
use super::facts::QaFacts;
use super::model_set::ModelSet;
use crate::case_selection::ChosenCases;
use crate::execution::Ran;
use crate::finished_run::FinishedRun;
use crate::groups;
use crate::run_ending::Reached;
use crate::session::Session;
use crate::spending::Spending;

/// The inputs of the final report.
pub(crate) struct Closing<'c> {
    pub(crate) session: &'c Session<'c>,
    pub(crate) model_set: &'c ModelSet,
    pub(crate) prices: Prices,
    pub(crate) seed: u64,
    pub(crate) spending: &'c Spending,
    pub(crate) traffic: &'c [Arc<Traffic>],
    pub(crate) attempts_before: Attempts,
    /// Which questions were asked.
    pub(crate) chosen: ChosenCases,
    /// The keys of metadata that the report is broken down by.
    pub(crate) group_by: &'c [String],
    /// Further lines below the title, before the others.
    pub(crate) facts: Vec<(String, String)>,
}

impl Closing<'_> {
    /// Adds models, costs and notes to the report, and writes it to `folder`.
    pub(crate) fn close(self, ran: Ran<Qa>, folder: RunFolder) -> Result<FinishedRun<Qa>> {
        let mut report = ran.report;
        let printer = self.session.printer;
        let costs = Costs::of(&report.cases, &self.model_set.models, &self.prices);
        let described = QaFacts {
            models: self.model_set.record(),
            costs,
            seed: self.seed,
            chosen: self.chosen,
            further: self.facts,
        };
        described.enter(&mut report)?;
        let reached = Reached {
            failures: ran.too_many_failed,
            budget: self.spending.is_spent(),
        };
        let summary = groups::summary(printer, &report, self.seed, self.group_by);
        let written = (report, summary);
        let finished = FinishedRun::write(self.session, self.seed, written, folder, reached)?;
        let attempts = Attempts::so_far(self.traffic).since(self.attempts_before);
        costs::note_calls(printer, self.model_set, self.spending.calls(), attempts);
        Ok(finished)
    }
}
