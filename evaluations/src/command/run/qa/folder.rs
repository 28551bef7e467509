//! The folder of a question answering run: a new one, or that of the run that is continued.

use std::sync::Arc;

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, Utc};
use evals::{CaseReport, FailureClass, FileJournal, Journal as _};
use evals_rag::qa::Qa;
use serde_json::Value;

use crate::command::Session;
use crate::run_folder::{RunFolder, RunState};
use crate::run_identity::{differences, identity};

/// Most differences that are listed.
const LISTED: usize = 8;

/// Where a run is recorded, and what is there already.
pub(super) struct Opened {
    pub(super) folder: RunFolder,
    pub(super) journal: Arc<FileJournal>,
    /// Cases that need not be run again.
    pub(super) finished: Vec<CaseReport<Qa>>,
}

/// Which earlier run is taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TakeUp {
    /// None.
    Fresh,
    /// One that did not come to its end.
    Unfinished,
    /// One that did, for the cases that failed in it.
    Failed,
}

/// Opens the folder in which a run with `manifest` is recorded.
pub(super) async fn open(
    session: &Session<'_>,
    manifest: &Value,
    started: DateTime<Utc>,
    take_up: TakeUp,
) -> Result<Opened> {
    let wanted = identity(manifest);
    let earlier = match take_up {
        TakeUp::Fresh => None,
        TakeUp::Unfinished => earlier(session, &wanted, |state| {
            matches!(state, RunState::Unfinished | RunState::Interrupted { .. })
        })?,
        TakeUp::Failed => earlier(session, &wanted, |state| state == RunState::Finished)?,
    };
    match (take_up, earlier) {
        (TakeUp::Unfinished, Some(folder)) => resume(session, folder, &wanted),
        (TakeUp::Failed, Some(folder)) => {
            let successes = successes(session, &folder)?;
            let mut opened = create(session, manifest, started, &wanted)?;
            for case in successes {
                opened.journal.append(&case).await?;
                opened.finished.push(case);
            }
            Ok(opened)
        }
        (TakeUp::Failed, None) => {
            bail!(
                "there is no finished run with these settings whose failed cases could be taken up"
            )
        }
        (_, None) | (TakeUp::Fresh, Some(_)) => create(session, manifest, started, &wanted),
    }
}

fn create(
    session: &Session<'_>,
    manifest: &Value,
    started: DateTime<Utc>,
    wanted: &Value,
) -> Result<Opened> {
    let name = manifest["name"].as_str().unwrap_or("qa");
    let folder = RunFolder::create(&session.directories.runs(), started, name)?;
    // The journal first: a folder with a manifest is a run, and a run has a journal that can be locked.
    let (journal, _) = FileJournal::open::<Qa>(folder.journal(), wanted)?;
    folder.write_manifest(manifest)?;
    Ok(Opened {
        folder,
        journal: Arc::new(journal),
        finished: Vec::new(),
    })
}

/// Continues a run. Cases that failed for a reason that goes away by itself are tried again.
fn resume(session: &Session<'_>, folder: RunFolder, wanted: &Value) -> Result<Opened> {
    let (journal, stored) = FileJournal::open::<Qa>(folder.journal(), wanted)
        .with_context(|| format!("run `{}` cannot be continued", folder.name()))?;
    let read = stored.len();
    let finished: Vec<_> = stored
        .into_iter()
        .filter(|case| !is_transient(case))
        .collect();
    session.printer.note(&format!(
        "continuing `{}`: {read} cases are done{}",
        folder.name(),
        match read - finished.len() {
            0 => String::new(),
            again => format!(", {again} of them failed and are tried again"),
        }
    ));
    if journal.damaged_lines() > 0 {
        session.printer.warn(&format!(
            "{} lines of `{}` are damaged; their cases are run again",
            journal.damaged_lines(),
            folder.journal().display()
        ));
    }
    Ok(Opened {
        folder,
        journal: Arc::new(journal),
        finished,
    })
}

/// Whether the task or an evaluator failed for a reason that may be gone.
fn is_transient(case: &CaseReport<Qa>) -> bool {
    let task = case.result.failure().and_then(|failure| failure.class);
    let evaluators = case.evaluator_failures.iter().map(|failure| failure.class);
    evaluators
        .chain([task])
        .any(|class| class == Some(FailureClass::Transient))
}

/// The cases of a finished run in which nothing failed.
fn successes(session: &Session<'_>, folder: &RunFolder) -> Result<Vec<CaseReport<Qa>>> {
    let report: evals::Report<Qa> = folder.read_report()?;
    let all = report.cases.len();
    let mut cases = report.cases;
    cases.retain(|case| case.result.failure().is_none() && case.evaluator_failures.is_empty());
    session.printer.note(&format!(
        "`{}` has {} failed cases of {all}; only those are run",
        folder.name(),
        all - cases.len()
    ));
    Ok(cases)
}

/// The newest run with this identity in a fitting state. Says what is different where only runs of this name with other
/// settings could have been taken up.
fn earlier(
    session: &Session<'_>,
    wanted: &Value,
    fits: impl Fn(RunState) -> bool,
) -> Result<Option<RunFolder>> {
    let mut other = None;
    for folder in RunFolder::list(&session.directories.runs())?
        .into_iter()
        .rev()
    {
        let Ok(manifest) = folder.read_manifest::<Value>() else {
            continue;
        };
        if manifest["benchmark"] != wanted["benchmark"] || manifest["name"] != wanted["name"] {
            continue;
        }
        if !fits(folder.state()) {
            continue;
        }
        let found = identity(&manifest);
        if found == *wanted {
            return Ok(Some(folder));
        }
        other.get_or_insert((folder, found));
    }
    if let Some((folder, found)) = other {
        let differences = differences(&found, wanted);
        let mut lines: Vec<String> = differences.iter().take(LISTED).cloned().collect();
        if differences.len() > LISTED {
            lines.push(format!("and {} more", differences.len() - LISTED));
        }
        session.printer.note(&format!(
            "a new run; `{}` is not continued because of\n  {}",
            folder.name(),
            lines.join("\n  ")
        ));
    }
    Ok(None)
}
