//! The listing of stored runs.

use anyhow::Result;
use evals::render::{Drawings, Symbols};
use evals_messages::quantity;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::run_folder::RunFolder;
use evals_runs::stored_runs::{StoredRun, headlines, is_of_kind};
use evals_terminal::listing::Layout;
use evals_terminal::{Printer, console};

use crate::cli::ListRunsArgs;

/// Number of lines that are listed without `--all`.
const NEWEST: usize = 20;

/// Length of the time at the start of a folder's name.
const TIME: usize = "20260501T120000.000Z".len();

const HEADER: [&str; 7] = [
    "run",
    "dataset",
    "benchmark",
    "profile",
    "cases",
    "score",
    "state",
];

/// The positions of some of them.
const PROFILE: usize = 3;
const CASES: usize = 4;
const SCORE: usize = 5;

/// The title of the column behind it, which only a terminal shows.
const TREND: &str = "trend";

/// The title of the column of given names, which shortened names of folders lack.
const NAME: &str = "name";

/// Columns that a narrow terminal drops, the least important first.
const DROPPED_WHEN_NARROW: [&str; 7] = [
    TREND,
    "cases",
    "benchmark",
    "profile",
    "state",
    NAME,
    "dataset",
];

pub(super) fn execute(session: &Session<'_>, arguments: &ListRunsArgs) -> Result<Exit> {
    let runs = session.directories.runs();
    let folders = RunFolder::list(&runs)?;
    // The newest first.
    let mut all = Vec::new();
    for folder in folders.iter().rev() {
        let run = match StoredRun::of_folder(folder.clone()) {
            Ok(run) => run,
            Err(error) => {
                session.printer.warn(&format!("{error:#}"));
                continue;
            }
        };
        let wanted = arguments.dataset.as_ref();
        if wanted.is_none_or(|dataset| *dataset == run.record.dataset.name) {
            all.push(run);
        }
    }
    if all.is_empty() {
        let of = arguments.dataset.as_ref();
        let of = of.map_or_else(String::new, |dataset| format!(" of `{dataset}`"));
        session
            .printer
            .note(&format!("no runs{of} in {}", runs.display()));
        return Ok(Exit::Done);
    }
    let mut lines = if arguments.all {
        (0..all.len()).map(Line::of).collect()
    } else {
        lines(&all)
    };
    let shown = if arguments.all { lines.len() } else { NEWEST };
    lines.truncate(shown);
    let listing = listing(session.printer, &folders, &all, &lines);
    session.printer.result(&listing)?;
    let (is_short, is_joined) = (
        lines.last().is_some_and(|line| line.place + 1 < all.len()),
        lines.iter().any(|line| line.trials > 1),
    );
    let all = quantity::of(all.len(), "run");
    match (is_joined, is_short) {
        (true, _) => session.printer.note(&format!(
            "showing the newest {} of {all}, each tuning in one line; `--all` lists all",
            quantity::of(lines.len(), "line"),
        )),
        (false, true) => session.printer.note(&format!(
            "showing the newest {} of {all}; `--all` lists all",
            lines.len()
        )),
        (false, false) => {}
    }
    Ok(Exit::Done)
}

/// A run to list, or the newest trial of a tuning for all of its trials.
struct Line {
    /// The place among all runs, the newest first.
    place: usize,
    /// How many trials it stands for; 0 if it is no trial.
    trials: usize,
}

impl Line {
    fn of(place: usize) -> Self {
        Self { place, trials: 0 }
    }
}

/// The lines of all runs, the newest first. The trials of a tuning are the runs of one command, one after the other.
fn lines(all: &[StoredRun]) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (place, run) in all.iter().enumerate() {
        let command = &run.record.command_line;
        // The value of `--color` may stand before the command.
        let mut words = command.iter().skip(1);
        let is_trial = words
            .find(|it| !it.starts_with('-') && !["auto", "always", "never"].contains(&it.as_str()))
            .is_some_and(|it| it == "tune");
        let is_of_last = |last: &&mut Line| {
            last.trials > 0 && is_trial && all[last.place].record.command_line == *command
        };
        match lines.last_mut().filter(is_of_last) {
            Some(last) => last.trials += 1,
            None => lines.push(Line {
                trials: usize::from(is_trial),
                ..Line::of(place)
            }),
        }
    }
    lines
}

/// The newest runs, the newest last, with a line of their trends.
fn listing(printer: &Printer, folders: &[RunFolder], all: &[StoredRun], lines: &[Line]) -> String {
    let console = console(printer);
    let layout = Layout::of(printer).dropping(&DROPPED_WHEN_NARROW);
    let is_narrow = printer.stdout().limit.is_some();
    let mut titles = HEADER.to_vec();
    let mut rows = Vec::new();
    let mut names = Vec::new();
    let mut pages = Vec::new();
    let mut trends = Vec::new();
    for Line { place, trials } in lines.iter().rev() {
        let run = &all[*place];
        let mut name = run.name();
        if is_narrow {
            name = short_name(name, folders);
        }
        let given = run.record.given_name().filter(|_| is_narrow);
        let given = given.filter(|_| *trials == 0).map(str::to_owned);
        let mut row = row(name, run);
        if *trials > 0 {
            // Scores of trials on different questions do not compare.
            "tuning".clone_into(&mut row[PROFILE]);
            row[CASES] = quantity::of(*trials, "trial");
            "-".clone_into(&mut row[SCORE]);
        }
        names.push(given);
        rows.push(row);
        pages.push(run.page().filter(|_| printer.links()));
        trends.push(match console.drawings {
            Drawings::On if *trials == 0 => line(run, &all[place + 1..], console.symbols),
            Drawings::On | Drawings::Off => None,
        });
    }
    insert(SCORE + 1, (TREND, trends), &mut titles, &mut rows);
    insert(1, (NAME, names), &mut titles, &mut rows);
    layout.render_linked(&titles, &rows, &pages)
}

/// Inserts a column at a position, if any of its cells has a value.
fn insert<'t>(
    place: usize,
    (title, cells): (&'t str, Vec<Option<String>>),
    titles: &mut Vec<&'t str>,
    rows: &mut [Vec<String>],
) {
    if cells.iter().all(Option::is_none) {
        return;
    }
    titles.insert(place, title);
    for (row, cell) in rows.iter_mut().zip(cells) {
        row.insert(place, cell.unwrap_or_default());
    }
}

/// The time at the start of a run's name if it identifies the run, else the whole name.
fn short_name(name: String, all: &[RunFolder]) -> String {
    let time = name.get(..TIME).unwrap_or(&name);
    let same = all.iter().filter(|other| other.name().starts_with(time));
    if same.count() == 1 {
        time.to_owned()
    } else {
        name
    }
}

fn row(name: String, run: &StoredRun) -> Vec<String> {
    let record = &run.record;
    let headline = run.headline();
    let score = headline.map(|headline| format!("{} {:.4}", headline.title, headline.value));
    vec![
        name,
        record.dataset.name.clone(),
        record.benchmark.to_string(),
        record.profile.clone(),
        record.dataset.questions.to_string(),
        score.unwrap_or_else(|| "-".to_owned()),
        run.shown_state(),
    ]
}

/// How the headline of a run compares with those of the `earlier` ones, the newest of them first, as a small line. `None` if there are not two
/// values, or for a terminal that cannot show them.
fn line(run: &StoredRun, earlier: &[StoredRun], symbols: Symbols) -> Option<String> {
    let values = headlines(run, earlier.iter(), is_of_kind);
    let is_line = values.iter().flatten().count() > 1;
    is_line.then(|| symbols.sparkline(&values)).flatten()
}
