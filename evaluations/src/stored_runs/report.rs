//! The report of a stored run, for either benchmark.

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals::{CaseId, Domain, Report, Summary};
use evals_metrics::Bootstrap;
use evals_rag::Retrieval;
use evals_rag::qa::Qa;
use serde_json::Value;

use crate::out_file::OutFile;
use crate::run_folder::{RunFolder, RunHeader, unreadable};
use crate::terminal::{Printer, report_text};

/// A stored report.
#[derive(Debug)]
pub(crate) enum StoredReport {
    Retrieval(Box<Report<Retrieval>>),
    Qa(Box<Report<Qa>>),
}

/// Facts about a run from its report.
pub(super) struct Facts<'r> {
    pub(super) name: &'r str,
    pub(super) dataset: &'r str,
    pub(super) profile: Option<&'r str>,
    pub(super) seed: Option<u64>,
    pub(super) cases: Vec<&'r CaseId>,
}

impl StoredReport {
    pub(super) fn read(folder: &RunFolder, header: &RunHeader) -> Result<Self> {
        Ok(match header.benchmark.as_str() {
            "retrieval" => Self::Retrieval(Box::new(folder.read_report()?)),
            "qa" => Self::Qa(Box::new(folder.read_report()?)),
            other => bail!(
                "run `{}` has the benchmark `{other}`, which this version does not support",
                folder.name()
            ),
        })
    }

    /// Parses a report without a manifest to name its benchmark. Question answering comes first because its cases hold rankings too.
    pub(super) fn parse(path: &Path, bytes: &[u8]) -> Result<Self> {
        let answers = match serde_json::from_slice(bytes) {
            Ok(report) => return Ok(Self::Qa(Box::new(report))),
            Err(error) => error,
        };
        let rankings = match serde_json::from_slice(bytes) {
            Ok(report) => return Ok(Self::Retrieval(Box::new(report))),
            Err(error) => error,
        };
        // The parser of the right benchmark gets further into a damaged report.
        let place = |error: &serde_json::Error| (error.line(), error.column());
        let error = if place(&answers) > place(&rankings) {
            answers
        } else {
            rankings
        };
        Err(error).with_context(|| unreadable(path))
    }

    pub(super) fn benchmark(&self) -> &'static str {
        match self {
            Self::Retrieval(_) => "retrieval",
            Self::Qa(_) => "qa",
        }
    }

    pub(super) fn facts(&self) -> Facts<'_> {
        match self {
            Self::Retrieval(report) => facts(report),
            Self::Qa(report) => facts(report),
        }
    }

    pub(super) fn summary(&self, seed: u64) -> Summary {
        match self {
            Self::Retrieval(report) => report.summary(&bootstrap(seed)),
            Self::Qa(report) => report.summary(&bootstrap(seed)),
        }
    }

    /// The report as `run` printed it.
    pub(crate) fn text(&self, printer: &Printer, seed: u64) -> Result<String> {
        match self {
            Self::Retrieval(report) => text(printer, report, seed),
            Self::Qa(report) => text(printer, report, seed),
        }
    }

    /// Writes the report in the format of the file.
    pub(crate) fn write(&self, file: &OutFile, seed: u64) -> Result<()> {
        match self {
            Self::Retrieval(report) => file.report(report, &report.summary(&bootstrap(seed))),
            Self::Qa(report) => file.report(report, &report.summary(&bootstrap(seed))),
        }
    }
}

fn facts<D: Domain>(report: &Report<D>) -> Facts<'_> {
    Facts {
        name: &report.name,
        dataset: &report.dataset,
        profile: report.metadata.get("profile").and_then(Value::as_str),
        seed: report.metadata.get("seed").and_then(Value::as_u64),
        cases: report.cases.iter().map(|case| &case.id).collect(),
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
