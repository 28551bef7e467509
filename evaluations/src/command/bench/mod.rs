//! `evaluations bench`: measures the speed of models and indexes.

mod embed;
mod index;
mod results;

use anyhow::Result;

use crate::cli::{BenchArgs, BenchCommand};
use crate::exit::Exit;
use crate::session::Session;

pub(super) fn execute(session: &Session<'_>, arguments: &BenchArgs) -> Result<Exit> {
    match &arguments.command {
        BenchCommand::Embed(arguments) => embed::execute(session, arguments),
        BenchCommand::Index(arguments) => index::execute(session, arguments),
    }
}
