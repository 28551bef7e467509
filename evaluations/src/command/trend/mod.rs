//! `evaluations runs trend`: shows how measures moved over stored runs, and where their level changed.

mod drop;
mod file;
mod line;
mod text;

use anyhow::{Result, bail};
use chrono::{DateTime, Utc};
use evals::GateVerdict;
use evals_messages::{nearest, quantity};
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::stored_runs::{History, StoredRun};

use self::drop::{Check, Series};
use self::file::TrendFile;
use self::line::Line;
use crate::cli::TrendArgs;

pub(super) fn execute(session: &Session<'_>, arguments: &TrendArgs) -> Result<Exit> {
    let files = arguments.out.iter().map(|path| TrendFile::new(path));
    let files: Vec<TrendFile<'_>> = files.collect::<Result<_>>()?;
    let runs = finished_runs(session, arguments)?;
    if runs.is_empty() {
        bail!(
            "no finished run in `{}` fits the options; `evaluations runs` lists all runs",
            session.directories.runs().display()
        );
    }
    let histories = History::all(&runs);
    let lines = lines(&histories, &arguments.measures)?;
    let checks = arguments.fail_on_drop.map(|tolerance| {
        let series = Series::all(&lines, &histories, tolerance);
        Check::all(series, arguments.window, tolerance)
    });
    let checks = checks.transpose()?.unwrap_or_default();
    let printer = session.printer;
    printer.result(&text::text(printer, &lines, &checks))?;
    for file in files {
        file.write(printer, &lines, &checks)?;
        printer.note_file("wrote", file.path());
    }
    match checks.iter().map(|check| check.verdict).max() {
        Some(GateVerdict::Failed) => return Ok(Exit::CheckFailed),
        Some(GateVerdict::CannotTell) => printer.warn(
            "for at least one line, the runs are too few to tell whether it dropped; this exit code does not mean that it held",
        ),
        Some(GateVerdict::Passed) | None => {}
    }
    Ok(Exit::Done)
}

/// The finished runs that the options choose, oldest first.
fn finished_runs(session: &Session<'_>, arguments: &TrendArgs) -> Result<Vec<StoredRun>> {
    let printer = session.printer;
    let mut found = Vec::new();
    let mut without_start = 0;
    for folder in session.stored_runs().list()? {
        let run = match StoredRun::of_folder(folder) {
            Ok(run) => run,
            Err(error) => {
                printer.warn(&format!("{error:#}"));
                continue;
            }
        };
        let record = &run.record;
        let is_of =
            |wanted: &[String], name: &str| wanted.is_empty() || wanted.iter().any(|it| it == name);
        if !is_of(&arguments.datasets, &record.dataset.name)
            || !(is_of(&arguments.profiles, &record.profile)
                || is_of(&arguments.profiles, record.system_name()))
        {
            continue;
        }
        let started = record.started.as_deref().and_then(time);
        let span = arguments.since.zip(started);
        if span.is_some_and(|(since, started)| started < since) {
            continue;
        }
        // Reads the whole report, so the filters come first.
        if let Some(problem) = &run.results().problem {
            printer.warn(problem);
        }
        if !run.is_finished() {
            continue;
        }
        if arguments.since.is_some() && started.is_none() {
            without_start += 1;
            continue;
        }
        found.push(run);
    }
    if without_start > 0 {
        printer.note(&format!(
            "{} left out, because the record does not say when the run started",
            quantity::of(without_start, "run")
        ));
    }
    // Folders that people copied in come first, whatever their age.
    found.sort_by(|left, right| left.record.started.cmp(&right.record.started));
    Ok(found)
}

fn time(text: &str) -> Option<DateTime<Utc>> {
    let time = DateTime::parse_from_rfc3339(text).ok()?;
    Some(time.with_timezone(&Utc))
}

/// The lines of the wanted measures. Fails if a measure is in no history.
fn lines<'r>(histories: &[History<'r>], wanted: &[String]) -> Result<Vec<Line<'r>>> {
    let mut lines = Vec::new();
    for history in histories {
        lines.extend(Line::of(history, wanted));
    }
    for name in wanted {
        if lines.iter().any(|line| line.is_named(name)) {
            continue;
        }
        let mut known: Vec<String> = histories.iter().flat_map(line::measures).collect();
        known.sort();
        known.dedup();
        let near = nearest::did_you_mean_measure(name, known.iter().map(String::as_str));
        bail!(
            "no run has the measure `{name}`; available: {}{near}",
            known.join(", ")
        );
    }
    Ok(lines)
}
