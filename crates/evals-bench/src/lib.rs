//! `evaluations bench`: measures the speed of models and indexes.

mod embed;
mod index;
#[expect(missing_docs, reason = "their help is their documentation")]
pub mod options;

use anyhow::Result;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;

use crate::options::{BenchArgs, BenchCommand};

/// Runs the benchmark that the options name.
///
/// # Errors
///
/// If a model or an index is unusable, or results cannot be written.
pub fn execute(session: &Session<'_>, arguments: &BenchArgs) -> Result<Exit> {
    match &arguments.command {
        BenchCommand::Embed(arguments) => embed::execute(session, arguments),
        BenchCommand::Index(arguments) => index::execute(session, arguments),
    }
}
