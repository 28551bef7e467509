//! `evaluations report`: a stored run in other formats.

use anyhow::Result;
use evals::Report;
use evals_metrics::Bootstrap;
use evals_rag::Retrieval;

use super::Session;
use super::run::{OutFile, RunHeader};
use crate::cli::ReportArgs;
use crate::exit::Exit;
use crate::run_folder::RunFolder;

pub(super) fn execute(session: &Session<'_>, arguments: &ReportArgs) -> Result<Exit> {
    let files: Vec<OutFile> = arguments
        .out
        .iter()
        .map(|path| OutFile::new(path))
        .collect::<Result<_>>()?;
    let folder = RunFolder::find(&session.directories.runs(), &arguments.run)?;
    let header: RunHeader = folder.read_manifest()?;
    let report: Report<Retrieval> = folder.read_report()?;
    let summary = report.summary(&Bootstrap {
        seed: header.seed,
        ..Bootstrap::default()
    });
    for file in &files {
        file.report(&report, &summary)?;
        session.printer.note(&format!("wrote {file}"));
    }
    Ok(Exit::Done)
}
