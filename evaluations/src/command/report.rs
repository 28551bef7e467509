//! `evaluations report`: writes the report of a stored run in other formats.

use anyhow::Result;

use crate::cli::ReportArgs;
use crate::exit::Exit;
use crate::out_file::OutFile;
use crate::session::Session;
use crate::stored_runs::StoredRuns;

pub(super) fn execute(session: &Session<'_>, arguments: &ReportArgs) -> Result<Exit> {
    let files = OutFile::all_of_eval(&arguments.out)?;
    let runs = StoredRuns::of(session);
    let run = runs.find(&arguments.run)?;
    let report = run.report()?;
    runs.note_incomplete(&run)?;
    for file in &files {
        report.write(file, run.header.seed, &arguments.group_by)?;
        session.printer.note(&format!("wrote {file}"));
    }
    Ok(Exit::Done)
}
