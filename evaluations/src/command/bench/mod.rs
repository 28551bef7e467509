//! `evaluations bench`: measures the speed of models and indexes.

mod embed;
mod index;
mod results;

use anyhow::Result;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;

use crate::cli::{BenchArgs, BenchCommand};

pub(super) fn execute(session: &Session<'_>, arguments: &BenchArgs) -> Result<Exit> {
    match &arguments.command {
        BenchCommand::Embed(arguments) => embed::execute(session, arguments),
        BenchCommand::Index(arguments) => index::execute(session, arguments),
    }
}
