//! The report of a stored run, whichever benchmark it is of.

use anyhow::{Result, bail};
use evals::{Domain, Report};
use evals_metrics::Bootstrap;
use evals_rag::Retrieval;
use evals_rag::qa::Qa;

use super::run::{OutFile, RunHeader, report_text};
use crate::printer::Printer;
use crate::run_folder::RunFolder;

/// A stored report.
pub(super) enum StoredReport {
    Retrieval(Box<Report<Retrieval>>),
    Qa(Box<Report<Qa>>),
}

impl StoredReport {
    pub(super) fn read(folder: &RunFolder, header: &RunHeader) -> Result<Self> {
        Ok(match header.benchmark.as_str() {
            "retrieval" => Self::Retrieval(Box::new(folder.read_report()?)),
            "qa" => Self::Qa(Box::new(folder.read_report()?)),
            other => bail!(
                "run `{}` is of the benchmark `{other}`, which this version does not know",
                folder.name()
            ),
        })
    }

    /// The report as `run` printed it.
    pub(super) fn text(&self, printer: &Printer, seed: u64) -> Result<String> {
        match self {
            Self::Retrieval(report) => text(printer, report, seed),
            Self::Qa(report) => text(printer, report, seed),
        }
    }

    /// Writes the report in the format that the file's name asks for.
    pub(super) fn write(&self, file: &OutFile, seed: u64) -> Result<()> {
        match self {
            Self::Retrieval(report) => file.report(report, &report.summary(&bootstrap(seed))),
            Self::Qa(report) => file.report(report, &report.summary(&bootstrap(seed))),
        }
    }
}

fn text<D: Domain>(printer: &Printer, report: &Report<D>, seed: u64) -> Result<String> {
    let summary = report.summary(&bootstrap(seed));
    Ok(report_text(printer, report, &summary)?)
}

fn bootstrap(seed: u64) -> Bootstrap {
    Bootstrap {
        seed,
        ..Bootstrap::default()
    }
}
