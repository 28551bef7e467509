//! The folder of a question answering run: a new one, or that of the run that is continued.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, Utc};
use evals::{CaseReport, FailureClass, FileJournal, Journal as _, JournalError, Report};
use evals_messages::quantity;
use evals_rag::qa::Qa;
use serde_json::Value;

use crate::run_folder::{RunFolder, StartLock, differences, identity};
use crate::session::Session;

/// Most differences that are listed.
const LISTED: usize = 8;

/// Where a run is recorded, and what is there already.
pub(crate) struct Opened {
    pub(crate) folder: RunFolder,
    pub(crate) journal: Arc<FileJournal>,
    /// Cases that need not be run again.
    pub(crate) finished: Vec<CaseReport<Qa>>,
    /// Wall time that has gone into those.
    pub(crate) elapsed: Duration,
}

/// Which earlier run is taken up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resume {
    /// None.
    Fresh,
    /// One with something left to do.
    Unfinished,
    /// One with something left to do, else one that is done, for the cases that failed in it.
    Failed,
}

/// Opens the folder in which a run with `manifest` is recorded.
///
/// Of several processes that want the same run one gets it: they look for it and create it one after the other.
pub(crate) async fn open(
    session: &Session<'_>,
    manifest: &Value,
    started: DateTime<Utc>,
    resume_from: Resume,
) -> Result<Opened> {
    let wanted = identity(manifest);
    let _turn = StartLock::take(&session.directories.data, session.printer).await?;
    if resume_from == Resume::Fresh {
        return create(session, manifest, started, &wanted);
    }
    let earlier = Earlier::find(session, &wanted)?;
    if let Some(folder) = earlier.unfinished {
        return resume(session, folder, &wanted).await;
    }
    if resume_from == Resume::Failed {
        let Some(folder) = earlier.finished else {
            bail!("there is no run with these settings whose failed cases could be taken up");
        };
        return retry(session, &folder, manifest, started, &wanted).await;
    }
    if let Some((folder, found)) = earlier.other {
        explain_new_run(session, &folder, &found, &wanted);
    }
    create(session, manifest, started, &wanted)
}

/// Makes a new run of the successes of a finished one, so that its failures are all that is left to do.
async fn retry(
    session: &Session<'_>,
    folder: &RunFolder,
    manifest: &Value,
    started: DateTime<Utc>,
    wanted: &Value,
) -> Result<Opened> {
    let report: Report<Qa> = folder.read_report()?;
    let all = report.cases.len();
    let mut successes = report.cases;
    successes.retain(|case| !is_failed(case));
    session.printer.note(&format!(
        "`{}` has {} of {all}; nothing else is run",
        folder.name(),
        quantity::of(all - successes.len(), "failed case")
    ));
    let mut opened = create(session, manifest, started, wanted)?;
    for case in successes {
        opened.journal.append(&case).await?;
        opened.finished.push(case);
    }
    opened.elapsed = report.duration;
    Ok(opened)
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
        elapsed: Duration::ZERO,
    })
}

/// Continues a run. Cases that failed for a reason that goes away by itself are tried again.
async fn resume(session: &Session<'_>, folder: RunFolder, wanted: &Value) -> Result<Opened> {
    let folder = folder.hold().await?;
    let opened = FileJournal::open::<Qa>(folder.journal(), wanted);
    if let Err(JournalError::Locked { .. }) = &opened {
        return Err(folder.already_running());
    }
    let (journal, stored) =
        opened.with_context(|| format!("run `{}` cannot be continued", folder.name()))?;
    let read = stored.len();
    let finished: Vec<_> = stored
        .into_iter()
        .filter(|case| !is_transient(case))
        .collect();
    session.printer.note(&format!(
        "continuing `{}`: {} done{}",
        folder.name(),
        quantity::of(read, "case"),
        match read - finished.len() {
            0 => String::new(),
            again => format!(", {again} of them failed and are tried again"),
        }
    ));
    if journal.damaged_lines() > 0 {
        let (are, their_cases) = match journal.damaged_lines() {
            1 => ("is", "its case is"),
            _ => ("are", "their cases are"),
        };
        session.printer.warn(&format!(
            "{} of `{}` {are} damaged; {their_cases} run again",
            quantity::of(journal.damaged_lines(), "line"),
            folder.journal().display()
        ));
    }
    Ok(Opened {
        folder,
        elapsed: journal.elapsed(),
        journal: Arc::new(journal),
        finished,
    })
}

/// Whether the task or an evaluator failed for a reason that may be gone.
pub(crate) fn is_transient(case: &CaseReport<Qa>) -> bool {
    let task = case.result.failure().and_then(|failure| failure.class);
    let evaluators = case.evaluator_failures.iter().map(|failure| failure.class);
    evaluators
        .chain([task])
        .any(|class| class == Some(FailureClass::Transient))
}

/// Whether the task or an evaluator failed.
fn is_failed(case: &CaseReport<Qa>) -> bool {
    case.result.failure().is_some() || !case.evaluator_failures.is_empty()
}

/// Runs of the same name that may be taken up. Of runs with the same identity the newest decides: those before it were left
/// behind by whoever started it.
#[derive(Default)]
struct Earlier {
    /// The same run, with something left to do: cases that were not run, or that failed for a reason that goes away.
    unfinished: Option<RunFolder>,
    /// The same run, done.
    finished: Option<RunFolder>,
    /// The newest run, where that is of other settings and did not come to its end, with its identity. An older one was left
    /// behind.
    other: Option<(RunFolder, Value)>,
}

impl Earlier {
    fn find(session: &Session<'_>, wanted: &Value) -> Result<Self> {
        let mut earlier = Self::default();
        let mut folders = RunFolder::list(&session.directories.runs())?;
        folders.reverse();
        let mut is_newest = true;
        for folder in folders {
            let Ok(manifest) = folder.read_manifest::<Value>() else {
                continue;
            };
            let found = identity(&manifest);
            let is_alike =
                |member: &str| found.get(member).is_some() == wanted.get(member).is_some();
            if found["benchmark"] != wanted["benchmark"]
                || found["name"] != wanted["name"]
                || !is_alike("rejudged")
            {
                continue;
            }
            let is_done = folder.state().is_complete();
            let was_newest = std::mem::replace(&mut is_newest, false);
            if found != *wanted {
                if was_newest && !is_done {
                    earlier.other = Some((folder, found));
                }
                continue;
            }
            if is_done && !has_transient_failures(&folder) {
                earlier.finished = Some(folder);
            } else {
                earlier.unfinished = Some(folder);
            }
            break;
        }
        Ok(earlier)
    }
}

/// Whether a finished run has cases that may succeed if they are tried again. One that cannot be read has none.
pub(crate) fn has_transient_failures(folder: &RunFolder) -> bool {
    let report = folder.read_report::<Report<Qa>>();
    report.is_ok_and(|report| report.cases.iter().any(is_transient))
}

fn explain_new_run(session: &Session<'_>, folder: &RunFolder, found: &Value, wanted: &Value) {
    let differences = differences(found, wanted);
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
