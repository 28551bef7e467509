//! `evaluations bench`: measures the speed of models.

mod embed;

use anyhow::Result;

use crate::cli::{BenchArgs, BenchCommand};
use crate::exit::Exit;
use crate::session::Session;

pub(super) fn execute(session: &Session<'_>, arguments: &BenchArgs) -> Result<Exit> {
    match &arguments.command {
        BenchCommand::Embed(arguments) => embed::execute(session, arguments),
    }
}
