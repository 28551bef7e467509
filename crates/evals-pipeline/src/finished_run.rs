//! A run whose report is written, complete or not: what is printed of it, and its exit code.

use anyhow::Result;
use evals::{Domain, Report, Summary};
use evals_pages::out_file::OutFile;
use evals_pages::page::{Documents, HasPage, PageSource, RunPage};
use evals_rag::Retrieval;
use evals_runs::annotations::Answers;
use evals_runs::calibrations::{CORRECTION, CalibrationStore, RunCorrections};
use evals_runs::run_folder::RunFolder;
use evals_terminal::{Printer, run_text, table_text};
use serde::Deserialize as _;
use serde_json::Value;

use crate::exit::Exit;
use crate::judged;
use crate::rankings;
use crate::run_ending::{Ending, Reached};
use crate::session::Session;

/// A run whose report and page are written.
#[derive(Debug)]
pub struct FinishedRun<D: Domain> {
    /// Its cases.
    pub report: Report<D>,
    /// The numbers of the report.
    pub summary: Summary,
    /// Where it is stored.
    pub folder: RunFolder,
    /// What its page shows beside the report.
    pub(crate) source: PageSource,
    pub(crate) reached: Reached,
}

impl FinishedRun<Retrieval> {
    /// Writes rankings, judgements, report and page into the folder of the run. `seed` is that of the summary's intervals.
    pub fn write_rankings(
        printer: &Printer,
        (seed, documents): (u64, Documents),
        (mut report, summary): (Report<Retrieval>, Summary),
        folder: RunFolder,
        reached: Reached,
    ) -> Result<Self> {
        judged::enter(&mut report);
        let finished = Self {
            source: PageSource::of_run(&folder, seed, documents),
            report,
            summary,
            folder,
            reached,
        };
        rankings::write(&finished.folder, &finished.report, finished.label())?;
        finished.write_report(printer)?;
        Ok(finished)
    }

    /// The profile, or the target.
    pub(crate) fn label(&self) -> &str {
        let profile = self.report.metadata.get("profile").and_then(Value::as_str);
        profile.unwrap_or_default()
    }

    /// The line below the title of the report with this label, if there is one.
    pub(crate) fn fact(&self, label: &str) -> Option<&str> {
        let facts = self.report.metadata.get(Report::<Retrieval>::FACTS)?;
        let facts = Vec::<(&str, &str)>::deserialize(facts).ok()?;
        let mut facts = facts.into_iter().filter(|(own, _)| *own == label);
        facts.next().map(|(_, text)| text)
    }
}

impl<D: Domain + HasPage + Answers> FinishedRun<D> {
    /// Writes report and page into the folder of the run, with pass rates that calibrations correct. `seed` is that of the summary's
    /// intervals.
    pub fn write(
        session: &Session<'_>,
        seed: u64,
        (report, summary): (Report<D>, Summary),
        folder: RunFolder,
        reached: Reached,
    ) -> Result<Self> {
        let printer = session.printer;
        let calibrations = CalibrationStore::of(&session.directories);
        let corrections = RunCorrections::of(printer, &calibrations, &folder, &report);
        let finished = Self {
            source: PageSource {
                corrections: corrections.tables(),
                corrected: corrections.in_lines(),
                ..PageSource::of_run(&folder, seed, Documents::none())
            },
            report,
            summary,
            folder,
            reached,
        };
        finished.write_report(printer)?;
        Ok(finished)
    }
}

impl<D: Domain + HasPage> FinishedRun<D> {
    fn write_report(&self, printer: &Printer) -> Result<()> {
        let Self {
            report,
            summary,
            folder,
            source,
            ..
        } = self;
        folder.write_report(report, summary, &source.corrections)?;
        let page = RunPage {
            report,
            summary,
            source,
        };
        printer.warn_of(page.write_into(folder).as_deref());
        Ok(())
    }

    /// The report with its corrected pass rates, as text for the terminal.
    pub fn text(&self, printer: &Printer) -> Result<String> {
        let mut text = run_text(printer, &self.report, &self.summary, D::CASE)?;
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
        self.write_files(printer, files)?;
        Ok(self.ending().note(printer, is_interrupted))
    }

    /// Writes `files`, and prints where the report is.
    pub(crate) fn write_files(&self, printer: &Printer, files: &[OutFile]) -> Result<()> {
        let (name, folder) = (&self.report.name, self.folder.path().display());
        printer.detail(&format!("{name}: report in {folder}"));
        for file in files {
            self.write_file(printer, file)?;
        }
        printer.note_files(&self.folder, &self.report, &self.summary);
        Ok(())
    }

    /// Writes the report into a file.
    pub(crate) fn write_file(&self, printer: &Printer, file: &OutFile) -> Result<()> {
        file.report(printer, &self.report, &self.summary, &self.source)?;
        printer.note_file("wrote", file.path());
        Ok(())
    }

    pub(crate) fn ending(&self) -> Ending<'_> {
        Ending::of(&self.report, &self.summary, self.reached)
    }
}
