//! A stored report of any benchmark, as commands show it.

use std::collections::BTreeSet;
use std::io::Write;

use anyhow::Result;
use evals::render::Cases;
use evals::{CaseId, Domain, Report, Summary};
use evals_html::page::PageFigure;
use evals_metrics::Bootstrap;
use evals_runs::stored_runs::StoredReport;
use evals_terminal::{self as terminal, Printer, console, report_text};

use crate::figures::{self, ComparedRun, FigurePlace};
use crate::out_file::OutFile;
use crate::page::{HasPage, PageSource, RunPage};

/// The ways in which commands show a report of any domain. A `seed` is that of the intervals.
pub trait ShownReport {
    /// The table of cases, the worst first.
    fn cases(&self, printer: &Printer, shown: &Cases) -> Result<String>;

    /// The worst of the cases that failed, or else of those that are below the best one, in a few lines each. `None` if there are none.
    fn worst(&self, printer: &Printer, most: usize) -> Result<Option<String>>;

    /// Some cases in detail.
    fn details(&self, printer: &Printer, ids: &BTreeSet<&CaseId>) -> Result<String>;

    /// The report as the command printed it, broken down by keys of the cases' metadata.
    fn text(&self, printer: &Printer, seed: u64, keys: &[String]) -> Result<String>;

    /// The figures of the report.
    fn figures(&self, seed: u64) -> Vec<PageFigure>;

    /// The report as the figures of several runs show it.
    fn compared(&self, label: String, series: usize, bootstrap: &Bootstrap) -> ComparedRun;

    /// Writes the page of the report.
    fn write_page(&self, source: &PageSource, out: &mut dyn Write) -> Result<()>;

    /// Writes the report in the format of the file, broken down by keys of the cases' metadata.
    fn write(
        &self,
        printer: &Printer,
        file: &OutFile,
        keys: &[String],
        source: &PageSource,
    ) -> Result<()>;
}

/// A stored report as commands show it.
pub fn shown_report(report: &StoredReport) -> &dyn ShownReport {
    match report {
        StoredReport::Retrieval(report) => &**report,
        StoredReport::Qa(report) => &**report,
        StoredReport::Eval(report) => &**report,
    }
}

impl<D: HasPage> ShownReport for Report<D> {
    fn cases(&self, printer: &Printer, shown: &Cases) -> Result<String> {
        let console = console(printer);
        Ok(terminal::text(|out| console.cases(out, self, shown))?)
    }

    fn worst(&self, printer: &Printer, most: usize) -> Result<Option<String>> {
        let failed = self.failed_cases();
        let (ids, heading) = match self.lower_cases().filter(|_| failed.is_empty()) {
            None if failed.is_empty() => return Ok(None),
            None => (failed, String::new()),
            Some((measure, lower)) => {
                let heading = format!("no case failed; the lowest by {measure}:\n\n");
                (lower, heading)
            }
        };
        let wanted = |id: &CaseId| ids.contains(id);
        let console = console(printer);
        let cases = terminal::text(|out| console.worst_cases(out, self, most, wanted))?;
        Ok(Some(heading + &cases))
    }

    fn details(&self, printer: &Printer, ids: &BTreeSet<&CaseId>) -> Result<String> {
        let console = console(printer);
        let wanted = |id: &CaseId| ids.contains(id);
        Ok(terminal::text(|out| {
            console.case_details(out, self, wanted)
        })?)
    }

    fn text(&self, printer: &Printer, seed: u64, keys: &[String]) -> Result<String> {
        Ok(report_text(printer, self, &grouped(self, seed, keys)?)?)
    }

    fn figures(&self, seed: u64) -> Vec<PageFigure> {
        let bootstrap = bootstrap(seed);
        figures::of_report(
            self,
            &self.summary(&bootstrap),
            &bootstrap,
            FigurePlace::File,
        )
    }

    fn compared(&self, label: String, series: usize, bootstrap: &Bootstrap) -> ComparedRun {
        ComparedRun::of(label, series, self, self.summary(bootstrap), bootstrap)
    }

    fn write_page(&self, source: &PageSource, out: &mut dyn Write) -> Result<()> {
        let page = RunPage {
            report: self,
            summary: &self.summary(&bootstrap(source.bootstrap.seed)),
            source,
        };
        page.write(out)?;
        Ok(())
    }

    fn write(
        &self,
        printer: &Printer,
        file: &OutFile,
        keys: &[String],
        source: &PageSource,
    ) -> Result<()> {
        let summary = grouped(self, source.bootstrap.seed, keys)?;
        file.report(printer, self, &summary, source)
    }
}

/// The numbers of a report, broken down by keys of the cases' metadata.
fn grouped<D: Domain>(report: &Report<D>, seed: u64, keys: &[String]) -> Result<Summary> {
    let bootstrap = bootstrap(seed);
    let summary = report.summary(&bootstrap);
    Ok(summary.grouped(report, keys, &bootstrap)?)
}

fn bootstrap(seed: u64) -> Bootstrap {
    Bootstrap {
        seed,
        ..Bootstrap::default()
    }
}
