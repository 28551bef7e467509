//! `evaluations runs report`: writes the report of a stored run in other formats, and draws its figures.

use anyhow::{Context as _, Result};
use evals_metrics::Bootstrap;
use evals_pages::figures::FigureFolder;
use evals_pages::out_file::OutFile;
use evals_pages::page::{Documents, PageSource};
use evals_pages::shown_report;
use evals_pipeline::exit::Exit;
use evals_pipeline::indexed_documents;
use evals_pipeline::session::Session;
use evals_runs::calibrations::{CalibrationStore, RunCorrections};
use evals_runs::run_record::RunRecord;
use evals_runs::stored_runs::StoredReport;
use tokio::runtime::Runtime;

use crate::cli::ReportArgs;

pub(in crate::command) fn execute(session: &Session<'_>, arguments: &ReportArgs) -> Result<Exit> {
    let files = OutFile::all_of_eval(&arguments.out)?;
    let texts = OutFile::texts(&files, arguments.without_texts)?;
    let folder = arguments.figures.as_deref().map(FigureFolder::create);
    let folder = folder.transpose()?;
    let runs = session.stored_runs();
    let run = runs.find(&arguments.run)?.measuring(&arguments.measures);
    let report = run.report()?;
    runs.note_incomplete(&run);
    let record = run.manifest();
    let documents = if files.iter().any(OutFile::is_page) {
        documents(&report, record.map(|record| &**record))?
    } else {
        Documents::none()
    };
    let store = CalibrationStore::of(&session.directories);
    let corrections = RunCorrections::of_stored(session.printer, &store, &run, &report);
    corrections.note(session.printer);
    let source = PageSource {
        corrections: corrections.tables(),
        corrected: corrections.in_lines(),
        record: record.cloned(),
        documents,
        bootstrap: Bootstrap {
            seed: run.record.seed,
            ..Bootstrap::default()
        },
        texts,
        ..PageSource::default()
    };
    for file in &files {
        shown_report(&report).write(session.printer, file, &arguments.group_by, &source)?;
        session.printer.note_file("wrote", file.path());
    }
    if let Some(folder) = folder {
        let note = folder.write(&shown_report(&report).figures(run.record.seed))?;
        session.printer.note(&note);
    }
    Ok(Exit::Done)
}

/// The texts that the report of a run lacks.
fn documents(report: &StoredReport, record: Option<&RunRecord>) -> Result<Documents> {
    let runtime = Runtime::new().context("cannot start worker threads")?;
    Ok(runtime.block_on(indexed_documents::of_report(report, record)))
}
