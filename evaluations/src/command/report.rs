//! `evaluations report`: a stored run in other formats.

use anyhow::Result;

use super::Session;
use super::run::OutFile;
use super::stored::StoredRuns;
use crate::cli::ReportArgs;
use crate::exit::Exit;

pub(super) fn execute(session: &Session<'_>, arguments: &ReportArgs) -> Result<Exit> {
    let files = OutFile::all(&arguments.out)?;
    let run = StoredRuns::of(session).find(&arguments.run)?;
    let report = run.report()?;
    for file in &files {
        report.write(file, run.header.seed)?;
        session.printer.note(&format!("wrote {file}"));
    }
    Ok(Exit::Done)
}
