//! `evaluations completions`: prints the script with which a shell completes commands and options.

use anyhow::Result;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;

use crate::cli::{self, CompletionsArgs};

pub(super) fn execute(session: &Session<'_>, arguments: &CompletionsArgs) -> Result<Exit> {
    let mut command = cli::command();
    let name = command.get_name().to_owned();
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, name, &mut script);
    session.printer.result(&String::from_utf8(script)?)?;
    Ok(Exit::Done)
}
