//! The stored run whose answers are judged again.

use std::ffi::OsStr;

use anyhow::{Result, bail};
use evals::Report;
use evals_rag::qa::Qa;
use evals_runs::run_folder::{RunFailure, RunState};
use evals_runs::run_record::{Benchmark, RunRecord, StoredSource};
use evals_runs::stored_runs::{StoredRun, StoredRuns, is_latest};
use evals_settings::redaction;

use crate::resumption::has_transient_failures;
use crate::session::Session;

/// A stored run whose answers are judged again.
pub(super) struct Source {
    pub(super) run: StoredRun,
    /// SHA-256 of its report, in hexadecimal.
    pub(super) digest: String,
    pub(super) report: Report<Qa>,
}

impl Source {
    /// The entry in the record of the new run.
    pub(super) fn entry(&self) -> StoredSource {
        StoredSource {
            run: self.run.name(),
            report: self.digest.clone(),
        }
    }
}

/// The run that `wanted` names, with its answers.
pub(super) fn find(session: &Session<'_>, wanted: &OsStr) -> Result<Source> {
    let runs = session.stored_runs();
    let run = if is_latest(wanted) {
        latest(&runs)?
    } else {
        runs.named(wanted)?
    };
    let folder = run.folder("names the answering model")?;
    if !has_answers(&run.record) {
        bail!(
            "run `{}` is {}; only runs of question answering can be judged again{}",
            run.name(),
            match run.record.benchmark {
                Benchmark::Eval => "a run of a dataset file",
                Benchmark::Retrieval | Benchmark::Qa => "a retrieval run",
            },
            newest_with_answers(&runs)
        );
    }
    let state = folder.state();
    if !is_answered(state) {
        let remedy = match state {
            RunState::Failed(_) => "it has no answers",
            _ => folder.remedy(),
        };
        bail!("cannot judge run `{}` ({state}); {remedy}", run.name());
    }
    let (report, digest) = folder.read_report_with_digest()?;
    runs.note_incomplete(&run);
    Ok(Source {
        run,
        digest,
        report,
    })
}

fn has_answers(record: &RunRecord) -> bool {
    record.benchmark == Benchmark::Qa
}

/// Whether all questions were asked and some were answered. A run whose judge always failed qualifies: rejudging repairs it.
fn is_answered(state: RunState) -> bool {
    matches!(
        state,
        RunState::Finished(_) | RunState::Failed(RunFailure::NoVerdict)
    )
}

/// The newest run with answers.
///
/// If this same command made the newest run from another run and did not finish it, returns that other run. The command then resumes
/// its own work and does not judge an unfinished result.
fn latest(runs: &StoredRuns<'_>) -> Result<StoredRun> {
    let this = redaction::command_line();
    for folder in runs.list()?.into_iter().rev() {
        let Ok(record) = folder.read_record() else {
            continue;
        };
        if !has_answers(&record) {
            continue;
        }
        let is_done = folder.state().is_complete() && !has_transient_failures::<Qa>(&folder);
        let rejudged = record.rejudged().filter(|_| !is_done);
        if let Some(rejudged) = rejudged
            && is_same_command(&record.command_line, &this)
            && let Ok(source) = runs.by_name(rejudged.source.run.as_ref())
        {
            return StoredRun::of_folder(source);
        }
        if is_answered(folder.state()) {
            break;
        }
    }
    runs.latest(has_answers, is_answered)
}

/// Whether two command lines have the same arguments. The path of the program may differ.
fn is_same_command(one: &[String], other: &[String]) -> bool {
    one.get(1..)
        .is_some_and(|words| Some(words) == other.get(1..))
}

/// Suggests the newest run with answers, for the end of an error message.
fn newest_with_answers(runs: &StoredRuns<'_>) -> String {
    let mut folders = runs.list().unwrap_or_default();
    match runs.pop_newest(&mut folders, has_answers, is_answered) {
        Ok((run, _)) => format!("; the newest run with answers is `{}`", run.name()),
        Err(_) => String::new(),
    }
}
