//! A run of a dataset file whose report is written.

use anyhow::Result;
use evals::render::{Cases, Part};
use evals_evaluators::Untyped;
use evals_terminal::{Printer, console, text};

use crate::finished_run::FinishedRun;
use crate::options::EvalShownArgs;
use crate::targets::Replies;

/// A run whose report is written, complete or not.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) run: FinishedRun<Untyped>,
    /// Where the replies of the target are.
    pub(super) replies: Replies,
}

impl Finished {
    /// The report and its cases as text for the terminal.
    pub(super) fn text(&self, printer: &Printer, shown: &EvalShownArgs) -> Result<String> {
        let mut page = self.run.text(printer)?;
        let cases = Cases {
            most: shown.most,
            reasons: shown.reasons,
            parts: shown.show.iter().copied().map(Part::from).collect(),
        };
        page += &text(|out| console(printer).cases(out, &self.run.report, &cases))?;
        Ok(page)
    }
}
