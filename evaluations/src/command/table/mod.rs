//! `evaluations table`: the benchmark tables of documentation, from stored runs.

mod markdown;
mod region;
mod rows;

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, bail};

use self::rows::{Selection, StoredRun};
use super::Session;
use crate::cli::TableArgs;
use crate::exit::Exit;
use crate::run_folder::{RunFolder, write_whole};

pub(super) fn execute(session: &Session<'_>, arguments: &TableArgs) -> Result<Exit> {
    let folders = RunFolder::list(&session.directories.runs())?;
    let runs = rows::read(session.printer, &folders);
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
    runs: &[StoredRun],
) -> Result<Exit> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
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
    write_whole(path, |file| file.write_all(replaced.as_bytes()))?;
    session.printer.note(&format!("wrote `{}`", path.display()));
    Ok(Exit::Done)
}

/// The tables of the selected runs. No run at all is an error: an empty table would look like a result.
fn tables(session: &Session<'_>, runs: &[StoredRun], selection: &Selection) -> Result<String> {
    let selected: Vec<StoredRun> = runs
        .iter()
        .filter(|run| selection.takes(run))
        .cloned()
        .collect();
    if selected.is_empty() {
        bail!(
            "no finished run of {selection} in `{}`; `evaluations runs` lists those there are",
            session.directories.runs().display()
        );
    }
    let missing = selection.datasets.iter().find(|dataset| {
        let mut names = selected.iter().map(|run| &run.manifest.dataset.name);
        !names.any(|name| name == *dataset)
    });
    if let Some(dataset) = missing {
        let selection = Selection {
            benchmark: selection.benchmark,
            datasets: vec![dataset.clone()],
        };
        bail!("no finished run of {selection}, although the others have one");
    }
    Ok(markdown::tables(&rows::representatives(selected)))
}
