//! Benchmarks retrieval-augmented generation from the command line.
//!
//! This package wires the libraries together: it parses the command line, resolves settings, and prints. What is
//! measured, and how, is theirs.

// The futures of the storage engine nest deeper than the compiler's default allows.
#![recursion_limit = "256"]

mod choices;
mod cli;
mod clock;
mod command;
mod directories;
mod downloads;
mod exit;
mod hint;
mod memory;
mod models;
mod printer;
mod progress;
mod redaction;
mod restart;
mod run_folder;
mod run_identity;
mod search_profile;
mod settings;
mod spending;
mod start_lock;
mod table;
mod trec_ids;
mod unknown_word;

use std::process::ExitCode;

use clap::{CommandFactory as _, FromArgMatches as _};
use evals_guard::regular_file;
use evals_messages::{nearest, quantity, visible};

use crate::cli::Cli;
use crate::exit::Exit;
use crate::printer::Printer;

/// Scans allocate and free large buffers, which the system's allocator maps anew each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    // Two TLS providers are linked in, so that neither is the default by itself.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();

    let expanded = cli::expand(std::env::args_os());
    if let Some(error) = expanded.dataset.as_deref().and_then(unknown_word::error) {
        exit::report(&error);
        return Exit::CouldNot.into();
    }
    let matches = Cli::command()
        .color(cli::color(&expanded.words))
        .try_get_matches_from(expanded.words);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(message) => return exit::usage(&message),
    };
    restart::with_all_processors(&cli.command);
    let printer = Printer::new(&cli.output);
    match clock::check(clock::now()).and_then(|()| command::execute(cli.command, &printer)) {
        Ok(exit) => exit.into(),
        Err(error) if exit::is_broken_pipe(&error) => Exit::Done.into(),
        Err(error) => {
            exit::report(&error);
            Exit::CouldNot.into()
        }
    }
}
