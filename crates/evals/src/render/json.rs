//! One JSON document.

use std::io::{self, Write};
use std::time::Duration;

use serde::Serialize;

use crate::report::Digest;
use crate::{
    Analysis, CaseReport, Change, ClusterKey, Comparison, Domain, EvaluatorIdentity, GateReport,
    Report, ReportEvaluatorFailure, SchemaVersion, Standings, Summary, TrialReport,
};

/// The report's fields, with the summary before the cases, because readers want the numbers first.
#[derive(Serialize)]
#[serde(bound = "")]
struct ReportDocument<'a, D: Domain> {
    schema_version: SchemaVersion,
    name: &'a str,
    dataset: &'a str,
    repeat: u32,
    interrupted: bool,
    not_run: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    stopped: Option<&'a str>,
    #[serde(rename = "seconds", serialize_with = "crate::json::seconds::serialize")]
    duration: Duration,
    metadata: &'a serde_json::Map<String, serde_json::Value>,
    #[serde(skip_serializing_if = "crate::report::is_pooled")]
    pools_assertions: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    cluster: Option<&'a ClusterKey>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    observer_failures: &'a [String],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    evaluators: &'a [EvaluatorIdentity],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    analyses: &'a [Analysis],
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    report_evaluator_failures: &'a [ReportEvaluatorFailure],
    summary: &'a Summary,
    cases: &'a [CaseReport<D>],
    /// The last member: its value is of everything before it.
    checksum: &'a Digest,
}

/// Writes the whole report with its summary, and at the end its checksum, which [`ReportCheck`](crate::ReportCheck) compares.
///
/// The document reads back as a [`Report`]. The summary is not read: it can be computed again from the cases.
pub fn report<D: Domain>(out: impl Write, report: &Report<D>, summary: &Summary) -> io::Result<()> {
    let Report {
        schema_version,
        name,
        dataset,
        repeat,
        interrupted,
        not_run,
        stopped,
        duration,
        metadata,
        pools_assertions,
        cluster,
        observer_failures,
        evaluators,
        analyses,
        report_evaluator_failures,
        cases,
    } = report;
    let checksum = Digest::default();
    let document = ReportDocument {
        schema_version: *schema_version,
        name,
        dataset,
        repeat: *repeat,
        interrupted: *interrupted,
        not_run: *not_run,
        stopped: stopped.as_deref(),
        duration: *duration,
        metadata,
        pools_assertions: *pools_assertions,
        cluster: cluster.as_ref(),
        observer_failures,
        evaluators,
        analyses,
        report_evaluator_failures,
        summary,
        cases,
        checksum: &checksum,
    };
    pretty(checksum.of(out), &document)
}

/// Writes a comparison.
pub fn comparison(out: impl Write, comparison: &Comparison) -> io::Result<()> {
    pretty(out, comparison)
}

/// Writes standings.
pub fn standings(out: impl Write, standings: &Standings) -> io::Result<()> {
    pretty(out, standings)
}

/// Writes a change.
pub fn change(out: impl Write, change: &Change) -> io::Result<()> {
    pretty(out, change)
}

/// Writes the verdicts of a gate.
pub fn gate(out: impl Write, report: &GateReport) -> io::Result<()> {
    pretty(out, report)
}

/// Writes the self-test of a gate.
pub fn trial(out: impl Write, report: &TrialReport) -> io::Result<()> {
    pretty(out, report)
}

fn pretty(mut out: impl Write, document: &impl Serialize) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut out, document)?;
    writeln!(out)
}
