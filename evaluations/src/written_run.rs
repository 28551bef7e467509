//! Writes the report and the page of a run with answers into its folder.

use anyhow::Result;
use evals::{Report, Summary};

use crate::annotations::Answers;
use crate::calibrations::{CORRECTION, CalibrationStore, RunCorrections};
use crate::page::{Documents, HasPage, PageSource, RunPage};
use crate::run_folder::RunFolder;
use crate::terminal::{Printer, report_text, table_text};

/// Writes the report and the page of a run into its folder, with pass rates that calibrations correct. Returns what the page shows beside
/// the report. `seed` is that of the summary's intervals.
pub(crate) fn write<D: HasPage + Answers>(
    printer: &Printer,
    calibrations: &CalibrationStore,
    folder: &RunFolder,
    seed: u64,
    report: &Report<D>,
    summary: &Summary,
) -> Result<PageSource> {
    let corrections = RunCorrections::of(printer, calibrations, folder, report);
    folder.write_report(report, summary, &corrections.tables())?;
    let source = PageSource {
        corrections: corrections.tables(),
        corrected: corrections.in_lines(),
        ..PageSource::of_run(folder, seed, Documents::none())
    };
    let page = RunPage {
        report,
        summary,
        source: &source,
    };
    printer.warn_of(page.write_into(folder).as_deref());
    Ok(source)
}

/// The report with its corrected pass rates, as text for the terminal.
pub(crate) fn text<D: HasPage>(
    printer: &Printer,
    report: &Report<D>,
    summary: &Summary,
    source: &PageSource,
) -> Result<String> {
    let mut text = report_text(printer, report, summary)?;
    for table in &source.corrections {
        text.push('\n');
        text.push_str(&table_text(printer, table, CORRECTION));
    }
    Ok(text)
}
