//! `evaluations bench`: how fast models are.

mod embed;

use anyhow::Result;

use super::Session;
use crate::cli::{BenchArgs, BenchCommand};
use crate::exit::Exit;

pub(super) fn execute(session: &Session<'_>, arguments: &BenchArgs) -> Result<Exit> {
    match &arguments.command {
        BenchCommand::Embed(arguments) => embed::execute(session, arguments),
    }
}
