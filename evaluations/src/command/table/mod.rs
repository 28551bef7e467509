//! `evaluations table`: prints stored runs as Markdown tables, or updates such tables in a file.

mod markdown;
mod region;
mod rows;

use std::path::Path;

use anyhow::{Context as _, Result, bail};
use evals_guard::regular_file;
use evals_messages::quantity;

use self::rows::{Choice, Selection, StoredRun};
use crate::atomic_file::write_atomically;
use crate::cli::TableArgs;
use crate::exit::Exit;
use crate::session::Session;
use crate::stored_runs::StoredRuns;

/// Most skipped runs that are listed by name.
const LISTED: usize = 10;

/// Largest Markdown file that can be updated, in bytes.
const LARGEST_PAGE: u64 = 64_000_000;

pub(super) fn execute(session: &Session<'_>, arguments: &TableArgs) -> Result<Exit> {
    let runs = candidates(session, arguments)?;
    if let Some(path) = &arguments.update {
        return update(session, arguments, path, &runs);
    }
    let selection = Selection {
        benchmark: None,
        datasets: arguments.datasets.clone(),
    };
    let text = tables(session, &runs, &selection)?;
    session.printer.result(&text)?;
    Ok(Exit::Done)
}

fn update(
    session: &Session<'_>,
    arguments: &TableArgs,
    path: &Path,
    runs: &Candidates,
) -> Result<Exit> {
    let text = String::from_utf8(regular_file::read(path, LARGEST_PAGE)?)
        .with_context(|| format!("`{}` is not UTF-8", path.display()))?;
    let regions = region::find(&text).with_context(|| format!("`{}`", path.display()))?;
    if regions.is_empty() {
        bail!(
            "`{}` has no table markers; add `<!-- evaluations table -->` and `<!-- evaluations end -->`, each on a line of its \
             own",
            path.display()
        );
    }
    let mut contents = Vec::new();
    let mut stale = Vec::new();
    for region in &regions {
        let mut selection = region.selection.clone();
        if selection.datasets.is_empty() {
            selection.datasets.clone_from(&arguments.datasets);
        }
        let table = tables(session, runs, &selection)
            .with_context(|| format!("`{}`, line {}", path.display(), region.line))?;
        // Without a blank line, Markdown reads the table as part of the comment above it.
        let mut content = format!("\n{table}\n");
        if text.contains("\r\n") {
            content = content.replace('\n', "\r\n");
        }
        if text[region.content.clone()] != content {
            stale.push(region.line);
        }
        contents.push(content);
    }
    if stale.is_empty() {
        session
            .printer
            .note(&format!("`{}` is up to date", path.display()));
        return Ok(Exit::Done);
    }
    if arguments.check {
        for line in stale {
            session.printer.failure(&format!(
                "`{}`, line {line}: the table is out of date; run without `--check` to update it",
                path.display()
            ));
        }
        return Ok(Exit::CheckFailed);
    }
    let replaced = region::replace(&text, &regions, &contents);
    write_atomically(path, |file| file.write_all(replaced.as_bytes()))?;
    session.printer.note(&format!("wrote `{}`", path.display()));
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
    let stored = StoredRuns::of(session);
    if arguments.runs.is_empty() {
        return Ok(Candidates::Stored(rows::read(
            session.printer,
            &stored.list()?,
        )));
    }
    let mut named: Vec<StoredRun> = Vec::new();
    for wanted in &arguments.runs {
        let found = stored.find(wanted)?;
        let run = rows::read_one(found.folder("names the settings and models")?)?;
        if !run.state.is_complete() {
            bail!(
                "cannot use run `{}` ({}) as a row of a table; {}",
                run.name,
                run.state,
                found.remedy()
            );
        }
        if named.iter().all(|other| other.name != run.name) {
            stored.note_incomplete(&found)?;
            named.push(run);
        }
    }
    Ok(Candidates::Named(named))
}

/// The tables of the selected runs. No run is an error, because an empty table would look like a result.
fn tables(session: &Session<'_>, runs: &Candidates, selection: &Selection) -> Result<String> {
    let selected = |runs: &[StoredRun]| -> Vec<StoredRun> {
        let taken = runs.iter().filter(|run| selection.takes(run));
        taken.cloned().collect()
    };
    let choice = match runs {
        Candidates::Stored(runs) => Choice::among(selected(runs)),
        Candidates::Named(runs) => Choice::all(selected(runs)),
    };
    note_skipped(session, &choice);
    if choice.rows.is_empty() {
        bail!(
            "no finished run of {selection} {}; `evaluations runs` lists the stored runs",
            match runs {
                Candidates::Stored(_) => format!("in `{}`", session.directories.runs().display()),
                Candidates::Named(_) => "among those of `--run`".to_owned(),
            }
        );
    }
    let missing = selection.datasets.iter().find(|dataset| {
        let mut names = choice.rows.iter().map(|run| &run.manifest.dataset.name);
        !names.any(|name| name == *dataset)
    });
    if let Some(dataset) = missing {
        let selection = Selection {
            benchmark: selection.benchmark,
            datasets: vec![dataset.clone()],
        };
        bail!("no finished run of {selection}, although the other datasets have one");
    }
    Ok(markdown::tables(&choice.rows))
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
