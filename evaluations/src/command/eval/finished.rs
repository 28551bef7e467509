//! A run of a dataset file whose report is written: what is printed of it, and the exit code.

use anyhow::Result;
use evals::render::{Cases, Part};
use evals::{Report, Summary};
use evals_evaluators::Untyped;

use crate::calibrations::CalibrationStore;
use crate::cli::EvalShownArgs;
use crate::exit::Exit;
use crate::out_file::OutFile;
use crate::page::PageSource;
use crate::run_ending::{Ending, Reached};
use crate::run_folder::RunFolder;
use crate::session::Session;
use crate::targets::Replies;
use crate::terminal::{Printer, console, text};
use crate::written_run;

/// A run whose report is written, complete or not.
#[derive(Debug)]
pub(super) struct Finished {
    pub(super) report: Report<Untyped>,
    pub(super) summary: Summary,
    pub(super) folder: RunFolder,
    source: PageSource,
    /// Where the replies of the target are.
    pub(super) replies: Replies,
    reached: Reached,
}

impl Finished {
    /// Writes the report to the run's folder.
    pub(super) fn write(
        session: &Session<'_>,
        seed: u64,
        report: Report<Untyped>,
        summary: Summary,
        folder: RunFolder,
        reached: Reached,
        replies: Replies,
    ) -> Result<Self> {
        let printer = session.printer;
        let calibrations = CalibrationStore::of(&session.directories);
        let source = written_run::write(printer, &calibrations, &folder, seed, &report, &summary)?;
        Ok(Self {
            report,
            summary,
            folder,
            source,
            replies,
            reached,
        })
    }

    /// The report and its cases as text for the terminal.
    pub(super) fn text(&self, printer: &Printer, shown: &EvalShownArgs) -> Result<String> {
        let mut page = written_run::text(printer, &self.report, &self.summary, &self.source)?;
        let cases = Cases {
            most: shown.most,
            reasons: shown.reasons,
            parts: shown.show.iter().copied().map(Part::from).collect(),
        };
        page += &text(|out| console(printer).cases(out, &self.report, &cases))?;
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
            file.eval_report(printer, &self.report, &self.summary, &self.source)?;
            printer.note_file("wrote", file.path());
        }
        self.folder.note_files(printer, &self.report);
        let ending = Ending::of(&self.report, &self.summary, self.reached);
        Ok(ending.note(printer, is_interrupted))
    }
}
