//! The commands, one file or folder each. A command imports libraries and the folders beside this one, but no other command, except those
//! that have subcommands of their own folder: `runs` has `merge`, `table` and `trend`, and `labels` has `calibrate`.

mod cache;
mod calibrate;
mod compare;
mod completions;
mod config;
mod datasets;
mod doctor;
mod gate;
mod init;
mod labels;
mod man;
mod merge;
mod questions;
mod run;
mod runs;
mod score;
mod table;
mod targets;
mod trend;
mod validate;
mod view;

use anyhow::Result;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_pipeline::{eval, pool, rejudge, tune};
use evals_runs::directories::Directories;
use evals_terminal::Printer;
use evals_viewer::Shown;

use crate::cli::Command;
use crate::errors;

/// Runs the command that the command line names.
pub(crate) fn execute(command: Command, printer: &Printer) -> Result<Exit> {
    let session = Session {
        printer,
        directories: Directories::from_env()?,
    };
    match command {
        Command::Init(arguments) => init::execute(&session, &arguments),
        Command::Run(arguments) => run::execute(&session, &arguments),
        Command::Import(arguments) => run::execute(&session, &(*arguments).into()),
        Command::Eval(arguments) => eval::execute(&session, &arguments, errors::report),
        Command::Datasets(arguments) => datasets::execute(&session, &arguments),
        Command::Targets(arguments) => targets::execute(&session, &arguments),
        Command::View(arguments) => view::execute(&session, &arguments),
        Command::Runs(arguments) => runs::execute(&session, &arguments),
        Command::Compare(arguments) => compare::execute(&session, &arguments),
        Command::Tune(arguments) => tune::execute(&session, &arguments),
        Command::Gate(arguments) => gate::execute(&session, &arguments),
        Command::Rejudge(arguments) => rejudge::execute(&session, &arguments),
        Command::Labels(arguments) => labels::execute(&session, &arguments),
        Command::Questions(arguments) => questions::execute(&session, &arguments),
        Command::Pool(arguments) if arguments.view => {
            evals_viewer::serve(&session, &Shown::Pool(&arguments), None, false)
        }
        Command::Pool(arguments) => pool::execute(&session, &arguments),
        Command::Score(arguments) => score::execute(&session, &arguments),
        Command::Bench(arguments) => evals_bench::execute(&session, &arguments),
        Command::Doctor(arguments) => doctor::execute(&session, &arguments),
        Command::Validate(arguments) => validate::execute(&session, &arguments),
        Command::Config(arguments) => config::execute(&session, &arguments),
        Command::Cache(arguments) => cache::execute(&session, &arguments),
        Command::Completions(arguments) => completions::execute(&session, &arguments),
        Command::Man(arguments) => man::execute(&session, &arguments),
    }
}
