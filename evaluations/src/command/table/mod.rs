//! `evaluations runs table`: prints stored runs as Markdown tables, draws figures of them, or updates both in a file.

mod figure;
mod labels;
mod markdown;
mod region;
mod rows;
mod trend;
mod update;

use std::ffi::OsStr;

use anyhow::{Result, bail};
use evals_messages::quantity;
use evals_pages::figures::FigureFolder;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::stored_runs::{StoredRun, StoredRuns};

use self::rows::{Choice, Selected, Selection};
use crate::cli::TableArgs;

/// Most skipped runs that are listed by name.
const LISTED: usize = 10;

pub(super) fn execute(session: &Session<'_>, arguments: &TableArgs) -> Result<Exit> {
    let folder = arguments.figures.as_deref().map(FigureFolder::create);
    let folder = folder.transpose()?;
    let runs = candidates(session, arguments)?;
    if let Some(path) = &arguments.update {
        return update::execute(session, arguments, path, |selection| {
            selected(session, &runs, selection)
        });
    }
    let selection = Selection {
        datasets: arguments.datasets.clone(),
        measures: arguments.measures.clone(),
        ..Selection::default()
    };
    let selected = selected(session, &runs, &selection)?;
    session.printer.result(&markdown::tables(&selected.rows))?;
    if let Some(folder) = &folder {
        let note = figure::write_all(&selected, folder)?;
        session.printer.note(&note);
    }
    Ok(Exit::Done)
}

/// The runs that may become rows.
enum Candidates {
    /// All stored runs; each table chooses among them.
    Stored(Vec<StoredRun>),
    /// The runs of `--run`.
    Named(Vec<StoredRun>),
}

fn candidates(session: &Session<'_>, arguments: &TableArgs) -> Result<Candidates> {
    let stored = session.stored_runs();
    if arguments.runs.is_empty() {
        return Ok(Candidates::Stored(rows::read(
            session.printer,
            &stored.list()?,
        )));
    }
    Ok(Candidates::Named(named(&stored, &arguments.runs)?))
}

/// Reads the runs that a user names.
fn named<S: AsRef<OsStr>>(stored: &StoredRuns<'_>, names: &[S]) -> Result<Vec<StoredRun>> {
    let mut named: Vec<StoredRun> = Vec::new();
    for wanted in names {
        let run = stored.find(wanted.as_ref())?;
        run.folder("names the settings and models")?;
        let state = run.results().state;
        if !state.is_complete() {
            bail!(
                "cannot use run `{}` ({state}) as a row of a table; {}",
                run.name(),
                run.remedy()
            );
        }
        if named.iter().all(|other| other.name() != run.name()) {
            stored.note_incomplete(&run);
            named.push(run);
        }
    }
    Ok(named)
}

/// The selected runs. No run is an error, because an empty table would look like a result.
fn selected(session: &Session<'_>, runs: &Candidates, selection: &Selection) -> Result<Selected> {
    let of_selection;
    let runs = if selection.runs.is_empty() {
        runs
    } else {
        of_selection = Candidates::Named(named(&session.stored_runs(), &selection.runs)?);
        &of_selection
    };
    let (Candidates::Stored(all) | Candidates::Named(all)) = runs;
    let taken = all.iter().filter(|run| selection.takes(run));
    let taken: Vec<StoredRun> = taken.cloned().collect();
    let finished = rows::finished(&taken);
    let choice = match runs {
        Candidates::Stored(_) => Choice::among(taken),
        Candidates::Named(_) => Choice::all(taken),
    };
    note_skipped(session, &choice);
    if choice.rows.is_empty() {
        bail!(
            "no finished run of {selection} {}; `evaluations runs` lists the stored runs",
            match runs {
                Candidates::Stored(_) => format!("in `{}`", session.directories.runs().display()),
                Candidates::Named(_) => "among the named runs".to_owned(),
            }
        );
    }
    let missing = selection.datasets.iter().find(|dataset| {
        let mut names = choice.rows.iter().map(|run| &run.record.dataset.name);
        !names.any(|name| name == *dataset)
    });
    if let Some(dataset) = missing {
        let selection = Selection {
            datasets: vec![dataset.clone()],
            ..selection.clone()
        };
        bail!("no finished run of {selection}, although the other datasets have one");
    }
    let rows = choice.rows.into_iter();
    let rows = rows.map(|run| rows::measured(run, &selection.measures));
    Ok(Selected {
        rows: rows.collect::<Result<_>>()?,
        finished,
    })
}

/// Lists the runs that were skipped although a reader may look for them.
fn note_skipped(session: &Session<'_>, choice: &Choice) {
    let skipped = &choice.skipped;
    for (name, why) in skipped.iter().rev().take(LISTED).rev() {
        session.printer.note(&format!("skipped `{name}`: {why}"));
    }
    if skipped.len() > LISTED {
        let more = skipped.len() - LISTED;
        session.printer.note(&format!(
            "skipped {} that are older",
            quantity::of(more, "run")
        ));
    }
    if !skipped.is_empty() {
        session
            .printer
            .note("use `--run` to choose the runs of a table");
    }
}
