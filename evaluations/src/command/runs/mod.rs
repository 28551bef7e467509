//! `evaluations runs`: everything that is done with stored runs.

mod baseline;
mod delete;
mod list;
pub(super) mod report;
mod show;
mod watch;

use anyhow::Result;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;

use crate::cli::{RunsArgs, RunsCommand};
use crate::command::{merge, table, trend};

pub(super) fn execute(session: &Session<'_>, arguments: &RunsArgs) -> Result<Exit> {
    match &arguments.command {
        None => list::execute(session, &arguments.list),
        Some(RunsCommand::List(list)) => list::execute(session, list),
        Some(RunsCommand::Show(show)) => show::execute(session, show),
        Some(RunsCommand::Report(report)) => report::execute(session, report),
        Some(RunsCommand::Table(table)) => table::execute(session, table),
        Some(RunsCommand::Trend(trend)) => trend::execute(session, trend),
        Some(RunsCommand::Baseline(baseline)) => baseline::execute(session, baseline),
        Some(RunsCommand::Merge(merge)) => merge::execute(session, merge),
        Some(RunsCommand::Delete(delete)) => delete::execute(session, delete),
    }
}
