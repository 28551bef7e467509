//! `evaluations runs`: lists, shows and deletes stored runs.

mod delete;
mod list;
mod show;
mod watch;

use anyhow::Result;

use crate::cli::{RunsArgs, RunsCommand};
use crate::exit::Exit;
use crate::session::Session;

pub(super) fn execute(session: &Session<'_>, arguments: &RunsArgs) -> Result<Exit> {
    match &arguments.command {
        None => list::execute(session, &arguments.list),
        Some(RunsCommand::List(list)) => list::execute(session, list),
        Some(RunsCommand::Show(show)) => show::execute(session, show),
        Some(RunsCommand::Delete(delete)) => delete::execute(session, delete),
    }
}
