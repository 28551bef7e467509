//! `evaluations runs`: lists, shows and deletes stored runs.

mod delete;
mod list;

use std::ffi::OsStr;

use anyhow::Result;
use evals_messages::visible;

use crate::cli::{RunsArgs, RunsCommand};
use crate::exit::Exit;
use crate::session::Session;
use crate::stored_runs::StoredRuns;

pub(super) fn execute(session: &Session<'_>, arguments: &RunsArgs) -> Result<Exit> {
    match &arguments.command {
        None => list::execute(session, &arguments.list),
        Some(RunsCommand::List(list)) => list::execute(session, list),
        Some(RunsCommand::Show { run }) => show(session, run),
        Some(RunsCommand::Delete(delete)) => delete::execute(session, delete),
    }
}

fn show(session: &Session<'_>, wanted: &OsStr) -> Result<Exit> {
    let runs = StoredRuns::of(session);
    let run = runs.find(wanted)?;
    let report = run.report()?;
    runs.note_incomplete(&run)?;
    session
        .printer
        .result(&report.text(session.printer, run.header.seed)?)?;
    let started = run.header.started.as_ref();
    let started = started.map_or_else(String::new, |time| format!("started {time}, "));
    session.printer.note(&format!(
        "{}, {started}{}",
        visible::line(&run.header.name),
        run.path().display()
    ));
    Ok(Exit::Done)
}
