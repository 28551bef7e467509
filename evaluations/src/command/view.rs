//! `evaluations view`: serves the pages of the stored runs.

use anyhow::Result;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;

use crate::cli::ViewArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &ViewArgs) -> Result<Exit> {
    let ViewArgs { run, port, no_open } = arguments;
    evals_viewer::serve(session, run.as_deref(), *port, *no_open)
}
