//! `evaluations table`: the benchmark tables of documentation, from stored runs.

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

/// Most runs that are named as left out of a table.
const LISTED: usize = 10;

/// Largest markdown file that is written into.
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
            "`{}` has no region to write; enclose one in `<!-- evaluations table -->` and `<!-- evaluations end -->`, each on \
             a line of its own",
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
        // Markdown takes a table right under a comment for a part of it.
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
                "`{}`, line {line}: the table is not what the stored runs give",
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

/// The runs that tables are made of.
enum Candidates {
    /// All there are, of which the tables choose.
    Stored(Vec<StoredRun>),
    /// Those that the user chose.
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
        let run = rows::read_one(found.folder("names its settings and models")?)?;
        if !run.state.is_complete() {
            bail!(
                "run `{}` is {} and cannot be a row of a table; {}",
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

/// The tables of the selected runs. No run at all is an error: an empty table would look like a result.
fn tables(session: &Session<'_>, runs: &Candidates, selection: &Selection) -> Result<String> {
    let selected = |runs: &[StoredRun]| -> Vec<StoredRun> {
        let taken = runs.iter().filter(|run| selection.takes(run));
        taken.cloned().collect()
    };
    let choice = match runs {
        Candidates::Stored(runs) => Choice::among(selected(runs)),
        Candidates::Named(runs) => Choice::all(selected(runs)),
    };
    note_left_out(session, &choice);
    if choice.rows.is_empty() {
        bail!(
            "no finished run of {selection} {}; `evaluations runs` lists those there are",
            match runs {
                Candidates::Stored(_) => format!("in `{}`", session.directories.runs().display()),
                Candidates::Named(_) => "is among those of `--run`".to_owned(),
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
        bail!("no finished run of {selection}, although the others have one");
    }
    Ok(markdown::tables(&choice.rows))
}

/// Says which runs are no rows although a reader may look for them.
fn note_left_out(session: &Session<'_>, choice: &Choice) {
    let left_out = &choice.left_out;
    for (name, why) in left_out.iter().rev().take(LISTED).rev() {
        session.printer.note(&format!("left out `{name}`: {why}"));
    }
    if left_out.len() > LISTED {
        let more = left_out.len() - LISTED;
        session.printer.note(&format!(
            "left out {} that are older",
            quantity::of(more, "run")
        ));
    }
    if !left_out.is_empty() {
        session.printer.note("`--run` names the runs of a table");
    }
}
