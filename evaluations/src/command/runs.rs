//! `evaluations runs`: what has been run so far.

use anyhow::Result;

use super::Session;
use super::run::RunHeader;
use super::stored::StoredReport;
use crate::cli::{RunsArgs, RunsCommand};
use crate::exit::Exit;
use crate::run_folder::RunFolder;
use crate::table;

pub(super) fn execute(session: &Session<'_>, arguments: &RunsArgs) -> Result<Exit> {
    match &arguments.command {
        None | Some(RunsCommand::List) => list(session),
        Some(RunsCommand::Show { run }) => show(session, run),
    }
}

fn list(session: &Session<'_>) -> Result<Exit> {
    let runs = session.directories.runs();
    let folders = RunFolder::list(&runs)?;
    if folders.is_empty() {
        session
            .printer
            .note(&format!("no runs in {}", runs.display()));
        return Ok(Exit::Done);
    }
    let mut rows = Vec::new();
    for folder in &folders {
        match folder.read_manifest::<RunHeader>() {
            Ok(header) => rows.push(row(folder, &header)),
            Err(error) => session.printer.warn(&format!("{error:#}")),
        }
    }
    let header = [
        "run",
        "dataset",
        "benchmark",
        "profile",
        "questions",
        "state",
    ];
    session
        .printer
        .result(&table::render(session.printer, &header, &rows))?;
    Ok(Exit::Done)
}

fn row(folder: &RunFolder, header: &RunHeader) -> Vec<String> {
    vec![
        folder.name(),
        header.dataset.name.clone(),
        header.benchmark.clone(),
        header.profile.clone(),
        header.dataset.questions.to_string(),
        folder.state().to_string(),
    ]
}

fn show(session: &Session<'_>, wanted: &str) -> Result<Exit> {
    let folder = RunFolder::find(&session.directories.runs(), wanted)?;
    let header: RunHeader = folder.read_manifest()?;
    let report = StoredReport::read(&folder, &header)?;
    session
        .printer
        .result(&report.text(session.printer, header.seed)?)?;
    session.printer.note(&format!(
        "{}, started {}, {}",
        header.name,
        header.started,
        folder.path().display()
    ));
    Ok(Exit::Done)
}
