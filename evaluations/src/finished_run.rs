//! A run whose report is written, complete or not: what is printed of it, and its exit code.

use anyhow::Result;
use evals::{Domain, Report, Summary};
use evals_runs::annotations::Answers;
use evals_runs::calibrations::{CORRECTION, CalibrationStore, RunCorrections};
use evals_runs::run_folder::RunFolder;

use crate::exit::Exit;
use crate::out_file::OutFile;
use crate::page::{Documents, HasPage, PageSource, RunPage};
use crate::run_ending::{Ending, Reached};
use crate::session::Session;
use crate::terminal::{Printer, run_text, table_text};

/// A run with answers whose report and page are written.
#[derive(Debug)]
pub(crate) struct FinishedRun<D: Domain> {
    pub(crate) report: Report<D>,
    pub(crate) summary: Summary,
    pub(crate) folder: RunFolder,
    source: PageSource,
    reached: Reached,
}

impl<D: Domain + HasPage + Answers> FinishedRun<D> {
    /// Writes report and page into the folder of the run, with pass rates that calibrations correct. `seed` is that of the summary's
    /// intervals.
    pub(crate) fn write(
        session: &Session<'_>,
        seed: u64,
        (report, summary): (Report<D>, Summary),
        folder: RunFolder,
        reached: Reached,
    ) -> Result<Self> {
        let printer = session.printer;
        let calibrations = CalibrationStore::of(&session.directories);
        let corrections = RunCorrections::of(printer, &calibrations, &folder, &report);
        folder.write_report(&report, &summary, &corrections.tables())?;
        let source = PageSource {
            corrections: corrections.tables(),
            corrected: corrections.in_lines(),
            ..PageSource::of_run(&folder, seed, Documents::none())
        };
        let page = RunPage {
            report: &report,
            summary: &summary,
            source: &source,
        };
        printer.warn_of(page.write_into(&folder).as_deref());
        Ok(Self {
            report,
            summary,
            folder,
            source,
            reached,
        })
    }

    /// The report with its corrected pass rates, as text for the terminal.
    pub(crate) fn text(&self, printer: &Printer) -> Result<String> {
        let mut text = run_text(printer, &self.report, &self.summary)?;
        for table in &self.source.corrections {
            text.push('\n');
            text.push_str(&table_text(printer, table, CORRECTION));
        }
        Ok(text)
    }

    /// Whether the same command, given again, would run no case.
    pub(crate) fn is_settled(&self) -> bool {
        self.ending().is_settled()
    }

    /// Writes `files`, prints notes on missing and failed cases, and returns the exit code.
    pub(crate) fn close(
        &self,
        printer: &Printer,
        files: &[OutFile],
        is_interrupted: bool,
    ) -> Result<Exit> {
        let (name, folder) = (&self.report.name, self.folder.path().display());
        printer.detail(&format!("{name}: report in {folder}"));
        for file in files {
            file.report(printer, &self.report, &self.summary, &self.source)?;
            printer.note_file("wrote", file.path());
        }
        printer.note_files(&self.folder, &self.report);
        Ok(self.ending().note(printer, is_interrupted))
    }

    fn ending(&self) -> Ending<'_> {
        Ending::of(&self.report, &self.summary, self.reached)
    }
}
