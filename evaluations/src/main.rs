//! Evaluates retrieval-augmented generation from the command line.
//!
//! This package wires the libraries together: it parses the command line, resolves settings, and prints. The libraries
//! measure.

// The futures of the storage engine nest deeper than the compiler's default allows.
#![recursion_limit = "256"]

mod cli;
mod command;
mod errors;
mod gating;

use std::process::ExitCode;

use clap::FromArgMatches as _;
use evals_pipeline::exit::Exit;
use evals_runs::clock;
use evals_settings::{self as settings, redaction};
use evals_terminal::Printer;

use crate::cli::{Cli, Command};

/// Scans allocate and free large buffers, which the system's allocator maps anew each time.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Stack of the thread that runs the program on Windows, as large as the main thread's on other systems: the storage engine
/// recurses deeply. Windows gives a main thread 1 MB.
const STACK_BYTES: usize = 8 << 20;
/// The exit code of a Rust program whose main thread panicked.
const PANICKED: u8 = 101;

fn main() -> ExitCode {
    if !cfg!(windows) {
        return run();
    }
    let running = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(run);
    match running.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        // The panic has printed its message.
        Ok(Err(_)) => ExitCode::from(PANICKED),
        // A small stack is enough for most commands.
        Err(_) => run(),
    }
}

fn run() -> ExitCode {
    // Two TLS providers are linked, so rustls does not choose one by itself.
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();

    redaction::hide_environment();
    let expanded = cli::expand(std::env::args_os());
    if let Some(error) = expanded.dataset.as_deref().and_then(errors::unknown_word) {
        errors::report(&error);
        return Exit::CouldNot.into();
    }
    let matches = cli::command()
        .color(cli::color(&expanded.words))
        .try_get_matches_from(expanded.words);
    let cli = match matches.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(cli) => cli,
        Err(message) => return errors::usage(&message),
    };
    restart_with_all_processors(&cli.command);
    let printer = Printer::new(&cli.output);
    let ended = clock::check(clock::now()).and_then(|()| command::execute(cli.command, &printer));
    printer.note_pages();
    match ended {
        Ok(exit) => exit.into(),
        Err(error) if errors::is_broken_pipe(&error) => Exit::Done.into(),
        Err(error) => {
            errors::report(&error);
            Exit::CouldNot.into()
        }
    }
}

/// Restarts the program if the storage engine would leave processors unused: it reads its number of threads once, from an environment
/// variable that a running process cannot set safely.
///
/// Returns if there is no variable to set or the restart fails. The run is then slower, with the same results.
#[cfg(unix)]
fn restart_with_all_processors(command: &Command) {
    use std::env;
    use std::os::unix::process::CommandExt as _;

    let variables = evals_index::environment();
    if variables.is_empty()
        || !matches!(
            command,
            Command::Run(_) | Command::Tune(_) | Command::Bench(_)
        )
    {
        return;
    }
    let mut arguments = env::args_os();
    let (Some(name), Ok(program)) = (arguments.next(), env::current_exe()) else {
        return;
    };
    let _ = std::process::Command::new(program)
        .arg0(name)
        .args(arguments)
        .envs(variables)
        .exec();
}

/// There is no `exec` here; the variable can be set by hand.
#[cfg(not(unix))]
fn restart_with_all_processors(_command: &Command) {}
