//! Benchmarks retrieval-augmented generation from the command line.
//!
//! This package wires the libraries together: it parses the command line, resolves settings, and prints. What is
//! measured, and how, is theirs.

// The futures of the storage engine nest deeper than the compiler's default allows.
#![recursion_limit = "256"]

mod cli;
mod command;
mod directories;
mod exit;
mod hint;
mod memory;
mod printer;
mod progress;
mod run_folder;
mod settings;
mod table;
mod trec_ids;

use std::process::ExitCode;

use clap::Parser as _;

use crate::cli::Cli;
use crate::exit::Exit;
use crate::printer::Printer;

fn main() -> ExitCode {
    // Two TLS providers are linked in, so that neither is the default by itself.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();

    let cli = match Cli::try_parse_from(cli::expand(std::env::args_os())) {
        Ok(cli) => cli,
        Err(message) => return exit::usage(&message),
    };
    let printer = Printer::new(&cli.output);
    match command::execute(cli.command, &printer) {
        Ok(exit) => exit.into(),
        Err(error) if exit::is_broken_pipe(&error) => Exit::Done.into(),
        Err(error) => {
            exit::report(&error);
            Exit::CouldNot.into()
        }
    }
}
