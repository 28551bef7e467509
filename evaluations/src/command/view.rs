//! `evaluations view`: serves the pages of the stored runs.

use anyhow::Result;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_viewer::Shown;

use crate::cli::ViewArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &ViewArgs) -> Result<Exit> {
    let ViewArgs { run, port, no_open } = arguments;
    let shown = run.as_deref().map_or(Shown::Runs, Shown::Named);
    evals_viewer::serve(session, &shown, *port, *no_open)
}
