//! `evaluations rejudge`: another judge on stored answers.

use anyhow::{Result, bail};
use serde_json::Value;

use super::Session;
use super::run::{self, OutFile, RunHeader, Source, SourceRecord};
use super::stored::{StoredRun, StoredRuns, is_latest};
use crate::cli::RejudgeArgs;
use crate::exit::Exit;
use crate::redaction;
use crate::run_folder::{Nothing, RunState};

pub(super) fn execute(session: &Session<'_>, arguments: &RejudgeArgs) -> Result<Exit> {
    let files = OutFile::all(&arguments.out)?;
    let runs = StoredRuns::of(session);
    let run = if is_latest(&arguments.run) {
        latest(&runs)?
    } else {
        runs.named(&arguments.run)?
    };
    let folder = run.folder("says who answered")?;
    if !has_answers(&run.header) {
        bail!(
            "run `{}` holds rankings; only answers can be judged again{}",
            run.name(),
            newest_with_answers(&runs)
        );
    }
    let state = folder.state();
    if !is_answered(state) {
        let remedy = match state {
            RunState::Failed(_) => "there is no answer to judge",
            _ => folder.remedy(),
        };
        bail!("run `{}` is {state}; {remedy}", run.name());
    }
    let (report, digest) = folder.read_report_with_digest()?;
    let record = SourceRecord {
        name: run.name(),
        digest,
        manifest: folder.read_manifest()?,
    };
    let source = Source { record, report };
    run::interruptible(session, async |interruption| {
        run::rejudge(session, arguments, &files, source, interruption).await
    })
}

fn has_answers(header: &RunHeader) -> bool {
    header.benchmark == "qa"
}

/// Whether all questions were asked and some were answered. A judge that failed is what judging again is for.
fn is_answered(state: RunState) -> bool {
    matches!(
        state,
        RunState::Finished(_) | RunState::Failed(Nothing::NoVerdict)
    )
}

/// The newest run with answers. Where the newest was made by this very command from another run and has something left to do, it
/// is that other run, so that the command resumes its own work and does not judge the half of it.
fn latest(runs: &StoredRuns<'_>) -> Result<StoredRun> {
    let this = Value::from(redaction::command_line());
    for folder in runs.list()?.into_iter().rev() {
        let Ok(header) = folder.read_manifest::<RunHeader>() else {
            continue;
        };
        if !has_answers(&header) {
            continue;
        }
        let is_done = folder.state().is_over() && !run::has_transient_failures(&folder);
        let source = header.rejudged.as_ref().filter(|_| !is_done);
        if let Some(source) = source
            && is_same_command(&header.command_line, &this)
            && let Ok(source) = runs.by_name(source.run.as_ref())
        {
            return StoredRun::of_folder(source);
        }
        if is_answered(folder.state()) {
            break;
        }
    }
    runs.latest(has_answers, is_answered)
}

/// Whether two command lines say the same, wherever the program is.
fn is_same_command(one: &Value, other: &Value) -> bool {
    let words = |line: &Value| line.as_array()?.get(1..).map(<[Value]>::to_vec);
    words(one).is_some_and(|words_of_one| Some(words_of_one) == words(other))
}

/// Which run could have been meant, as the end of a message.
fn newest_with_answers(runs: &StoredRuns<'_>) -> String {
    let mut folders = runs.list().unwrap_or_default();
    match runs.pop_newest(&mut folders, has_answers, is_answered) {
        Ok((run, _)) => format!("; the newest run with answers is `{}`", run.name()),
        Err(_) => String::new(),
    }
}
