//! Compares the runs of a command that tried several settings: all runs of each benchmark together.

use std::ffi::OsString;

use anyhow::{Result, bail};
use evals_messages::quantity;
use evals_pages::Incomparable;
use evals_pipeline::exit::Exit;
use evals_pipeline::session::Session;
use evals_runs::run_record::Benchmark;
use evals_runs::stored_runs::{StoredRun, Variants};

use crate::cli::CompareArgs;

/// A run of a variant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::command) struct VariantRun {
    pub(in crate::command) benchmark: Benchmark,
    /// The name of its folder.
    pub(in crate::command) folder: String,
}

/// Compares the variants of the last command.
pub(super) fn of_last_command(
    session: &Session<'_>,
    arguments: &CompareArgs,
    variants: &Variants,
) -> Result<Exit> {
    if arguments.fail_if_worse {
        bail!(
            "`--fail-if-worse` compares one run with a baseline, and the last command ran {}; name the two runs to compare",
            quantity::of(variants.runs.len(), "variant")
        );
    }
    let runs: Vec<VariantRun> = variants.runs.iter().map(VariantRun::of).collect();
    let titles: Vec<&str> = variants
        .runs
        .iter()
        .map(|run| run.record.name.as_str())
        .collect();
    session.printer.note(&format!(
        "comparing the {} of the last command with each other: {}",
        quantity::of(runs.len(), "run"),
        titles.join(" ")
    ));
    execute(session, arguments, &runs)
}

/// Compares the runs of each benchmark, as `evaluations compare RUN…` does. `arguments` name no runs.
pub(in crate::command) fn execute(
    session: &Session<'_>,
    arguments: &CompareArgs,
    runs: &[VariantRun],
) -> Result<Exit> {
    let mut benchmarks: Vec<Benchmark> = Vec::new();
    for run in runs {
        if !benchmarks.contains(&run.benchmark) {
            benchmarks.push(run.benchmark);
        }
    }
    let mut exit = None;
    let mut skipped = Vec::new();
    for benchmark in &benchmarks {
        let own = runs.iter().filter(|run| run.benchmark == *benchmark);
        let own: Vec<OsString> = own.map(|run| OsString::from(&run.folder)).collect();
        if own.len() < 2 {
            session.printer.note(&format!(
                "one finished run of {benchmark}, so there is nothing to compare it with"
            ));
            continue;
        }
        let files = (benchmarks.len() > 1).then(|| benchmark.word());
        let own = arguments.with_runs(own, files);
        match super::execute(session, &own) {
            // Such as the searches of a service that only answers.
            Err(error) if error.is::<Incomparable>() => skipped.push(error),
            compared => exit = exit.max(Some(compared?)),
        }
    }
    if exit.is_none()
        && let Some(error) = skipped.pop()
    {
        return Err(error);
    }
    for reason in skipped {
        session.printer.note(&format!("skipped: {reason}"));
    }
    Ok(exit.unwrap_or(Exit::Done))
}

impl VariantRun {
    fn of(run: &StoredRun) -> Self {
        Self {
            benchmark: run.record.benchmark,
            folder: run.name(),
        }
    }
}
