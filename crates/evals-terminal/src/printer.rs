//! Prints results to stdout, and messages and progress bars to stderr, as the output options ask for.

use std::env;
use std::io::{self, IsTerminal as _, Write};
use std::mem;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use clap::{Args, ColorChoice};
use evals::render::Drawings;
use evals::{Domain, Report, Summary};
use evals_runs::Notes;
use evals_runs::run_folder::{REPORT, RunFailure, RunFolder};
use evals_settings::redaction::printable;
use indicatif::{MultiProgress, ProgressDrawTarget};

use crate::link;
use crate::live::LivePage;
use crate::progress_lines::ProgressLines;

/// The width of tables in a pipe or a file, and on a terminal of unknown width.
const DEFAULT_WIDTH: u16 = 100;

/// The least width that tables are laid out for.
const LEAST_WIDTH: u16 = 20;

/// Output options, which every command accepts.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// Print results and errors only
    #[arg(long, short, global = true, conflicts_with = "verbose")]
    pub quiet: bool,
    /// Print more details, such as paths and timings
    #[arg(long, short, global = true)]
    pub verbose: bool,
    /// Hide progress: bars on a terminal, and a line each minute in a pipe or a file
    #[arg(long, global = true)]
    pub no_progress: bool,
    /// When to colour the output; `auto`: on a terminal, unless `NO_COLOR` is set
    #[arg(long, global = true, value_enum, default_value_t = ColorChoice::Auto, value_name = "WHEN")]
    pub color: ColorChoice,
}

/// The amount of messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// Prints results and messages as the output options ask for.
#[derive(Debug, Clone)]
pub struct Printer {
    verbosity: Verbosity,
    color: ColorChoice,
    stdout: Stdout,
    links: Links,
    shows_results: bool,
    /// Whether a page on stderr may be drawn again in the same place.
    is_live: bool,
    /// The pages of the runs that ended since the last note; `None` for a run that finished no case.
    pages: Arc<Mutex<Vec<Option<PathBuf>>>>,
    progress: Arc<MultiProgress>,
    /// Stands for the bars if stderr is not a terminal.
    progress_lines: Option<Arc<ProgressLines>>,
}

impl Printer {
    /// A printer for these options, which finds out what stdout and stderr are.
    pub fn new(arguments: &OutputArgs) -> Self {
        let verbosity = match (arguments.quiet, arguments.verbose) {
            (true, _) => Verbosity::Quiet,
            (false, true) => Verbosity::Verbose,
            (false, false) => Verbosity::Normal,
        };
        let has_progress = verbosity > Verbosity::Quiet && !arguments.no_progress;
        let shown = has_progress && io::stderr().is_terminal();
        let links =
            arguments.color != ColorChoice::Never && link::supported(|name| env::var_os(name));
        let is_dumb = env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        let target = if shown {
            ProgressDrawTarget::stderr()
        } else {
            ProgressDrawTarget::hidden()
        };
        Self {
            verbosity,
            color: arguments.color,
            stdout: Stdout::from_env(is_dumb),
            links: Links {
                stdout: links && io::stdout().is_terminal(),
                stderr: links && io::stderr().is_terminal(),
            },
            shows_results: true,
            is_live: shown && !is_dumb,
            pages: Arc::default(),
            progress: Arc::new(MultiProgress::with_draw_target(target)),
            progress_lines: (has_progress && !shown).then(ProgressLines::start),
        }
    }

    /// The same without results, for commands whose results another command shows.
    #[must_use]
    pub fn without_results(&self) -> Self {
        Self {
            shows_results: false,
            ..self.clone()
        }
    }

    /// The same for errors only, of runs whose pages are not the result.
    #[must_use]
    pub fn silent(&self) -> Self {
        Self {
            verbosity: Verbosity::Quiet,
            progress_lines: None,
            pages: Arc::default(),
            ..self.without_results()
        }
    }

    /// The progress bars; hidden unless stderr is a terminal.
    pub fn progress(&self) -> &MultiProgress {
        &self.progress
    }

    /// The lines that stand for progress bars in a pipe or a file; `None` on a terminal and without progress.
    pub(super) fn progress_lines(&self) -> Option<&ProgressLines> {
        self.progress_lines.as_deref()
    }

    /// Writes a whole result to stdout, with progress bars hidden meanwhile.
    pub fn result(&self, text: &str) -> Result<(), StdoutError> {
        if !self.shows_results {
            return Ok(());
        }
        let written = self.progress.suspend(|| {
            let mut stdout = io::stdout().lock();
            stdout.write_all(text.as_bytes())?;
            stdout.flush()
        });
        match written {
            // The reader, such as `head`, closed the pipe. The command still has to finish, for example to write files.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            written => written.map_err(StdoutError),
        }
    }

    /// Prints a note, unless `--quiet`.
    pub fn note(&self, message: &str) {
        self.message(Verbosity::Normal, "", message);
    }

    /// A callback that prints notes, for libraries that report what they wait for.
    pub fn watch(&self) -> Arc<dyn Fn(&str) + Send + Sync> {
        let printer = self.clone();
        Arc::new(move |line: &str| printer.note(line))
    }

    /// Whether `--verbose` asks for details.
    pub fn is_verbose(&self) -> bool {
        self.verbosity == Verbosity::Verbose
    }

    /// Prints a detail, with `--verbose`.
    pub fn detail(&self, message: &str) {
        self.message(Verbosity::Verbose, "", message);
    }

    /// Prints a warning about the result, unless `--quiet`.
    pub fn warn(&self, message: &str) {
        self.message(Verbosity::Normal, "warning: ", message);
    }

    /// Prints the warning of an operation that succeeded, if it has one.
    pub fn warn_of(&self, warning: Option<&str>) {
        if let Some(warning) = warning {
            self.warn(warning);
        }
    }

    /// Prints the reason why a command fails although it has a result, even with `--quiet`.
    pub fn failure(&self, message: &str) {
        self.message(Verbosity::Quiet, "warning: ", message);
    }

    /// Prints a note that ends with the path of a file, linked to the file on a terminal that opens links.
    pub fn note_file(&self, message: &str, path: &Path) {
        self.note_link(&format!("{message} "), path, path);
    }

    /// Prints a note that ends with a path, linked to a file on a terminal that opens links.
    pub fn note_link(&self, message: &str, shown: &Path, file: &Path) {
        if self.verbosity < Verbosity::Normal {
            return;
        }
        let shown = printable(&shown.display().to_string());
        let shown = if self.links.stderr {
            link::to_file(&shown, file)
        } else {
            shown
        };
        self.write(&format!("{}{shown}", printable(message)));
    }

    /// Adds the page of a run that ended, for [`note_pages`](Self::note_pages).
    fn add_page(&self, page: Option<PathBuf>) {
        self.pages().push(page);
    }

    /// Names the file with all failures of a report in the folder of its run, if there are any, because the printed report shows only the
    /// first few. The page is named when the command ends, unless the run measured nothing.
    pub fn note_files<D: Domain>(&self, folder: &RunFolder, report: &Report<D>, summary: &Summary) {
        let has_failures = report
            .cases
            .iter()
            .any(|case| case.result.failure().is_some() || !case.evaluator_failures.is_empty());
        if has_failures {
            let path = folder.path().join(REPORT);
            self.note_file("every failure in full:", &path);
        }
        let any_finished = report
            .cases
            .iter()
            .any(|case| case.result.output().is_some());
        if let Some(page) = folder.page() {
            let is_measured = any_finished && RunFailure::of(summary).is_none();
            self.add_page(is_measured.then_some(page));
        }
    }

    /// Prints one line of what to do next: look at the page of the last run, and compare. It says how many other pages there are.
    pub fn note_pages(&self) {
        let ended = mem::take(&mut *self.pages());
        let pages: Vec<&PathBuf> = ended.iter().flatten().collect();
        let Some((last, others)) = pages.split_last() else {
            if !ended.is_empty() {
                self.note("next: correct this, then run the same command again");
            }
            return;
        };
        let others = match others.len() {
            0 => String::new(),
            others => format!(" (`evaluations view` shows {others} more)"),
        };
        let next = "next: `evaluations compare` after a change; every case is on the page";
        self.note_file(&format!("{next}{others}:"), last);
    }

    fn pages(&self) -> MutexGuard<'_, Vec<Option<PathBuf>>> {
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A page that is drawn again and again on stderr; `None` unless stderr is a terminal that can do so and progress is shown.
    pub fn live_page(&self) -> Option<LivePage> {
        self.is_live.then(LivePage::new)
    }

    fn message(&self, least: Verbosity, label: &str, message: &str) {
        if self.verbosity < least {
            return;
        }
        self.write(&format!("{label}{}", printable(message)));
    }

    /// Writes a line to stderr, with progress bars hidden meanwhile.
    fn write(&self, line: &str) {
        self.progress.suspend(|| {
            // If stderr is closed, there is no place to report that.
            let _ = writeln!(io::stderr().lock(), "{line}");
        });
    }

    /// Whether to colour stdout: as the option says, or else on a terminal unless `NO_COLOR` is set.
    pub fn color(&self) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => self.stdout.is_terminal && !self.stdout.no_color,
        }
    }

    /// Whether names on stdout link to files.
    pub fn links(&self) -> bool {
        self.links.stdout
    }

    /// The properties of stdout.
    pub fn stdout(&self) -> Stdout {
        self.stdout
    }
}

impl Notes for Printer {
    fn note(&self, message: &str) {
        self.note(message);
    }

    fn warn(&self, message: &str) {
        self.warn(message);
    }
}

/// Writing a result to stdout failed.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the result to stdout")]
pub struct StdoutError(#[source] io::Error);

/// The properties of stdout.
#[derive(Debug, Clone, Copy)]
pub struct Stdout {
    /// Whether it is a terminal, so that lines may be truncated to fit.
    pub is_terminal: bool,
    /// The longest line: `COLUMNS`, or else the width of the terminal. `None` for a pipe or a file.
    pub limit: Option<u16>,
    /// Whether the locale supports Unicode; assumed if no locale is set.
    pub unicode: bool,
    /// Whether tables have small drawings: on a terminal that is more than a teletype.
    pub drawings: Drawings,
    no_color: bool,
}

/// Which streams are terminals that open links.
#[derive(Debug, Clone, Copy)]
struct Links {
    stdout: bool,
    stderr: bool,
}

impl Stdout {
    fn from_env(is_dumb: bool) -> Self {
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
            drawings: if is_terminal && !is_dumb {
                Drawings::On
            } else {
                Drawings::Off
            },
            no_color: env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty()),
        }
    }
}

impl Stdout {
    /// The width of a table: the limit, or else the default.
    pub fn width(self) -> u16 {
        self.limit.unwrap_or(DEFAULT_WIDTH)
    }
}

/// The width from the environment variable `COLUMNS`.
fn columns() -> Option<u16> {
    let columns = env::var("COLUMNS").ok()?;
    columns.trim().parse().ok().filter(|columns| *columns > 0)
}

/// The locale of characters, if set.
fn locale() -> Option<String> {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .iter()
        .filter_map(|name| env::var(name).ok())
        .find(|value| !value.is_empty())
}
