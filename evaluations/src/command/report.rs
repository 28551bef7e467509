//! `evaluations report`: a stored run in other formats.

use anyhow::Result;

use super::Session;
use super::run::{OutFile, RunHeader};
use super::stored::StoredReport;
use crate::cli::ReportArgs;
use crate::exit::Exit;
use crate::run_folder::RunFolder;

pub(super) fn execute(session: &Session<'_>, arguments: &ReportArgs) -> Result<Exit> {
    let files = OutFile::all(&arguments.out)?;
    let folder = RunFolder::find(&session.directories.runs(), &arguments.run)?;
    let header: RunHeader = folder.read_manifest()?;
    let report = StoredReport::read(&folder, &header)?;
    for file in &files {
        report.write(file, header.seed)?;
        session.printer.note(&format!("wrote {file}"));
    }
    Ok(Exit::Done)
}
