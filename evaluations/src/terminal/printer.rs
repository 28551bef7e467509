//! What reaches the terminal: results on stdout, everything else on stderr.

use std::env;
use std::io::{self, IsTerminal as _, Write};
use std::sync::Arc;

use indicatif::{MultiProgress, ProgressDrawTarget};

use super::visible::printable;
use crate::cli::{ColorChoice, OutputArgs};

/// Columns of what is printed into a pipe or a file, and on a terminal that does not tell its width.
const DEFAULT_WIDTH: u16 = 100;

/// Narrower than this nothing can be laid out.
const LEAST_WIDTH: u16 = 20;

/// How much is said beside the results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// Prints results to stdout and messages to stderr, each as the user asked for.
#[derive(Debug, Clone)]
pub(crate) struct Printer {
    verbosity: Verbosity,
    color: ColorChoice,
    stdout: Stdout,
    progress: Arc<MultiProgress>,
}

impl Printer {
    pub(crate) fn new(arguments: &OutputArgs) -> Self {
        let verbosity = match (arguments.quiet, arguments.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        };
        let shown =
            verbosity > Verbosity::Quiet && !arguments.no_progress && io::stderr().is_terminal();
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self {
            verbosity,
            color: arguments.color,
            stdout: Stdout::from_env(),
            progress: Arc::new(MultiProgress::with_draw_target(target)),
        }
    }

    /// The bars of this process; hidden where stderr is not a terminal.
    pub(crate) fn progress(&self) -> &MultiProgress {
        &self.progress
    }

    /// Writes a result to stdout, in one piece, with progress bars out of the way.
    pub(crate) fn result(&self, text: &str) -> Result<(), StdoutError> {
        let written = self.progress.suspend(|| {
            let mut stdout = io::stdout().lock();
            stdout.write_all(text.as_bytes())?;
            stdout.flush()
        });
        match written {
            // Whoever read has seen enough. What else the command does, such as writing files, is still wanted.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(StdoutError),
        }
    }

    /// Says what was done.
    pub(crate) fn note(&self, message: &str) {
        self.message(Verbosity::Normal, "", message);
    }

    /// Says what is waited for, from wherever that is noticed.
    pub(crate) fn watch(&self) -> Arc<dyn Fn(&str) + Send + Sync> {
        let printer = self.clone();
        Arc::new(move |line: &str| printer.note(line))
    }

    /// Says where things are and how they went.
    pub(crate) fn detail(&self, message: &str) {
        self.message(Verbosity::Verbose, "", message);
    }

    /// Says what the user should know before trusting the result.
    pub(crate) fn warn(&self, message: &str) {
        self.message(Verbosity::Normal, "warning: ", message);
    }

    /// Says why the command is going to fail although it has a result, which is said to everybody.
    pub(crate) fn failure(&self, message: &str) {
        self.message(Verbosity::Quiet, "warning: ", message);
    }

    fn message(&self, least: Verbosity, label: &str, message: &str) {
        if self.verbosity < least {
            return;
        }
        self.progress.suspend(|| {
            // Nobody is left to be told that stderr is closed.
            let _ = writeln!(io::stderr().lock(), "{label}{}", printable(message));
        });
    }

    /// Whether stdout takes colour: as asked for, else on a terminal unless `NO_COLOR` is set.
    pub(crate) fn color(&self) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => self.stdout.is_terminal && !self.stdout.no_color,
        }
    }

    /// Where results go.
    pub(crate) fn stdout(&self) -> Stdout {
        self.stdout
    }
}

/// A result that stdout does not take.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the result to stdout")]
pub(crate) struct StdoutError(#[source] io::Error);

/// What is known of stdout.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stdout {
    /// Whether a person reads it, so that lines may be cut to fit.
    pub(crate) is_terminal: bool,
    /// The column where lines have to end: that of `COLUMNS`, else the terminal's. None in a pipe or a file.
    pub(crate) limit: Option<u16>,
    /// Whether the locale can show more than ASCII; one that is not set is taken to.
    pub(crate) unicode: bool,
    no_color: bool,
}

impl Stdout {
    fn from_env() -> Self {
        let is_terminal = io::stdout().is_terminal();
        let size = console::Term::stdout().size_checked();
        let of_terminal = size
            .map(|(_, columns)| columns)
            .filter(|columns| *columns > 0)
            .or(is_terminal.then_some(DEFAULT_WIDTH));
        let limit = columns().or(of_terminal);
        Self {
            is_terminal,
            limit: limit.map(|columns| columns.max(LEAST_WIDTH)),
            unicode: locale().is_none_or(|locale| {
                let locale = locale.to_lowercase();
                locale.contains("utf-8") || locale.contains("utf8")
            }),
            no_color: env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
        }
    }
}

impl Stdout {
    /// The columns of a table: as many as there are, else as many as are good for any place.
    pub(crate) fn width(self) -> u16 {
        self.limit.unwrap_or(DEFAULT_WIDTH)
    }
}

/// The width that the environment asks for, as other tools take it.
fn columns() -> Option<u16> {
    let columns = env::var("COLUMNS").ok()?;
    columns.trim().parse().ok().filter(|columns| *columns > 0)
}

/// The locale of characters, where one is set.
fn locale() -> Option<String> {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| env::var(name).ok())
        .find(|value| !value.is_empty())
}
