//! `evaluations report`: writes the report of a stored run in other formats, and draws its figures.

use anyhow::Result;

use crate::cli::ReportArgs;
use crate::exit::Exit;
use crate::figures::FigureFolder;
use crate::out_file::OutFile;
use crate::session::Session;
use crate::stored_runs::StoredRuns;

pub(super) fn execute(session: &Session<'_>, arguments: &ReportArgs) -> Result<Exit> {
    let files = OutFile::all_of_eval(&arguments.out)?;
    let folder = arguments.figures.as_deref().map(FigureFolder::create);
    let folder = folder.transpose()?;
    let runs = StoredRuns::of(session);
    let run = runs.find(&arguments.run)?;
    let report = run.report()?;
    runs.note_incomplete(&run)?;
    for file in &files {
        report.write(file, run.header.seed, &arguments.group_by)?;
        session.printer.note(&format!("wrote {file}"));
    }
    if let Some(folder) = folder {
        folder.write(&report.figures(run.header.seed), session.printer)?;
    }
    Ok(Exit::Done)
}
