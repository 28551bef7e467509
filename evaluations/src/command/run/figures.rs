//! Draws the runs of a command without variants.

use std::ffi::OsString;
use std::path::Path;

use anyhow::{Result, bail};
use evals_pages::figures::FigureFolder;
use evals_pipeline::session::Session;
use evals_runs::run_record::Benchmark;

use crate::cli::{CompareArgs, ReportArgs, RunArgs};
use crate::command::compare;
use crate::command::runs::report;

/// The folder of `--figures`. It is made at once, so that a command fails before it does any work.
pub(super) fn folder(arguments: &RunArgs) -> Result<Option<&Path>> {
    let folder = arguments.variants.figures.as_deref();
    if let Some(folder) = folder {
        if arguments.judging.estimate {
            bail!("`--figures` draws runs, and `--estimate` runs nothing; leave one of them out");
        }
        FigureFolder::create(folder)?;
    }
    Ok(folder)
}

/// Draws the runs of each benchmark of the last command: their comparison, or the only one. Several benchmarks have a folder each.
pub(super) fn draw(session: &Session<'_>, arguments: &RunArgs, folder: &Path) -> Result<()> {
    let printer = session.printer.without_results();
    let quiet = Session {
        printer: &printer,
        directories: session.directories.clone(),
    };
    let runs = quiet.stored_runs();
    let (made, _) = runs.pop_last_command(&mut runs.list()?)?;
    let mut benchmarks: Vec<(Benchmark, Vec<OsString>)> = Vec::new();
    for run in &made {
        let (benchmark, name) = (run.record.benchmark, OsString::from(run.name()));
        match benchmarks.iter_mut().find(|(known, _)| *known == benchmark) {
            Some((_, names)) => names.push(name),
            None => benchmarks.push((benchmark, vec![name])),
        }
    }
    let several = benchmarks.len() > 1;
    for (benchmark, mut names) in benchmarks {
        let folder = if several {
            folder.join(benchmark.word())
        } else {
            folder.to_owned()
        };
        if names.len() > 1 {
            let comparison = CompareArgs::of_command(
                arguments.results.group_by.clone(),
                Vec::new(),
                Some(folder),
            );
            compare::execute(&quiet, &comparison.with_runs(names, None))?;
        } else if let Some(run) = names.pop() {
            report::execute(
                &quiet,
                &ReportArgs {
                    measures: Vec::new(),
                    run,
                    group_by: Vec::new(),
                    out: Vec::new(),
                    without_texts: false,
                    figures: Some(folder),
                },
            )?;
        }
    }
    Ok(())
}
