//! Finds the run to resume, or starts a new one.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use chrono::{DateTime, Utc};
use evals::{CaseReport, Domain, FailureClass, FileJournal, Journal as _, JournalError, Report};
use evals_messages::quantity;
use evals_runs::run_folder::{RunFolder, StartLock};
use evals_runs::run_record::{Configuration, RunRecord, Sameness, differences};

use crate::session::Session;

/// Most differences that are listed.
const LISTED: usize = 8;

/// The folder of a run, with the cases that it already holds.
#[derive(Debug)]
pub struct Opened<D: Domain> {
    /// The folder.
    pub folder: RunFolder,
    /// Where finished cases are recorded.
    pub journal: Arc<FileJournal>,
    /// Cases that do not run again.
    pub(crate) finished: Vec<CaseReport<D>>,
    /// Wall time of earlier sessions.
    pub(crate) elapsed: Duration,
}

/// Which earlier run to resume.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Resume {
    /// None.
    Fresh,
    /// An unfinished run, or one with temporary failures.
    Unfinished,
    /// The same, or else a finished run, to retry its failed cases.
    Failed,
}

/// Opens the folder of a run with this record.
///
/// Only one of several processes gets the same run, because a lock makes them search and create one after the other.
pub(crate) async fn open<D: Domain>(
    session: &Session<'_>,
    record: &RunRecord,
    started: DateTime<Utc>,
    resume_from: Resume,
) -> Result<Opened<D>> {
    let _turn = StartLock::take(&session.directories.data, session.printer).await?;
    if resume_from == Resume::Fresh {
        return create(session, record, started, Duration::ZERO);
    }
    let earlier = Earlier::find::<D>(session, record)?;
    if let Some(unfinished) = earlier.unfinished {
        return resume(session, unfinished).await;
    }
    if resume_from == Resume::Failed {
        let Some(folder) = earlier.finished else {
            bail!("no earlier run has these settings, so there are no failed cases to retry");
        };
        return retry(session, &folder, record, started).await;
    }
    if let Some((folder, differences)) = earlier.other {
        explain_new_run(session, &folder, &differences);
    }
    create(session, record, started, Duration::ZERO)
}

/// Creates a new run with the successful cases of a finished one, so that only its failed cases run.
async fn retry<D: Domain>(
    session: &Session<'_>,
    folder: &RunFolder,
    record: &RunRecord,
    started: DateTime<Utc>,
) -> Result<Opened<D>> {
    let report: Report<D> = folder.read_report()?;
    let all = report.cases.len();
    let mut successes = report.cases;
    successes.retain(|case| !is_failed(case));
    session.printer.note(&format!(
        "retrying {} of `{}`; keeping the other {}",
        quantity::of(all - successes.len(), "failed case"),
        folder.name(),
        successes.len()
    ));
    let mut opened = create(session, record, started, report.duration)?;
    for case in successes {
        opened.journal.append(&case).await?;
        opened.finished.push(case);
    }
    Ok(opened)
}

/// Creates a new run with this record, whose cases have taken `elapsed` so far.
pub fn create<D: Domain>(
    session: &Session<'_>,
    record: &RunRecord,
    started: DateTime<Utc>,
    elapsed: Duration,
) -> Result<Opened<D>> {
    let folder = RunFolder::create(&session.directories.runs(), started, &record.name)?;
    // The journal comes before the manifest, so that every run has a journal to lock.
    let (journal, _) = FileJournal::open::<D>(folder.journal(), &record.identity())?;
    folder.write_record(record)?;
    Ok(Opened {
        folder,
        journal: Arc::new(journal.elapsed_before(elapsed)),
        finished: Vec::new(),
        elapsed,
    })
}

/// Resumes a run. Cases with a temporary failure run again.
async fn resume<D: Domain>(
    session: &Session<'_>,
    (folder, record): (RunFolder, RunRecord),
) -> Result<Opened<D>> {
    let folder = folder.hold().await?;
    let opened = FileJournal::open::<D>(folder.journal(), &record.identity());
    if let Err(JournalError::Locked { .. }) = &opened {
        return Err(folder.already_running());
    }
    let (journal, stored) =
        opened.with_context(|| format!("cannot resume run `{}`", folder.name()))?;
    let read = stored.len();
    let finished: Vec<_> = stored
        .into_iter()
        .filter(|case| !is_transient(case))
        .collect();
    session.printer.note(&format!(
        "resuming `{}`: {} done{}",
        folder.name(),
        quantity::of(read, "case"),
        match read - finished.len() {
            0 => String::new(),
            again => format!(", retrying {again} with temporary failures"),
        }
    ));
    if journal.damaged_lines() > 0 {
        let their_cases = match journal.damaged_lines() {
            1 => "its case runs",
            _ => "their cases run",
        };
        session.printer.warn(&format!(
            "skipped {} in `{}`; {their_cases} again",
            quantity::of(journal.damaged_lines(), "damaged line"),
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

/// Whether the task or an evaluator failed temporarily, so that a retry may succeed.
pub fn is_transient<D: Domain>(case: &CaseReport<D>) -> bool {
    let task = case.result.failure().and_then(|failure| failure.class);
    let evaluators = case.evaluator_failures.iter().map(|failure| failure.class);
    evaluators
        .chain([task])
        .any(|class| class == Some(FailureClass::Transient))
}

/// Whether the task or an evaluator failed.
fn is_failed<D: Domain>(case: &CaseReport<D>) -> bool {
    case.result.failure().is_some() || !case.evaluator_failures.is_empty()
}

/// Earlier runs of the same name. Only the newest run that is the same can be resumed: starting it abandoned the ones before.
#[derive(Default)]
struct Earlier {
    /// The same run, unfinished or with temporary failures.
    unfinished: Option<(RunFolder, RunRecord)>,
    /// The same run, finished.
    finished: Option<RunFolder>,
    /// The newest run, if it is unfinished and another one, with what differs.
    other: Option<(RunFolder, Vec<String>)>,
}

impl Earlier {
    fn find<D: Domain>(session: &Session<'_>, wanted: &RunRecord) -> Result<Self> {
        let mut earlier = Self::default();
        let mut folders = RunFolder::list(&session.directories.runs())?;
        folders.reverse();
        let wanted_values = Configuration::of_identity(wanted);
        let mut is_newest = true;
        for folder in folders {
            let Ok(found) = folder.read_record() else {
                continue;
            };
            // Runs of other shards are no earlier runs: they may be going on at the same time.
            if found.benchmark != wanted.benchmark
                || found.name != wanted.name
                || found.rejudged().is_some() != wanted.rejudged().is_some()
                || found.shard() != wanted.shard()
            {
                continue;
            }
            let was_newest = std::mem::replace(&mut is_newest, false);
            let is_done = || folder.state().is_complete();
            let found_values = Configuration::of_identity(&found);
            let differences = differences(&found_values, &wanted_values, Sameness::Run);
            if !differences.is_empty() {
                if was_newest && !is_done() {
                    earlier.other = Some((folder, differences));
                }
                continue;
            }
            if is_done() && !has_transient_failures::<D>(&folder) {
                earlier.finished = Some(folder);
            } else {
                earlier.unfinished = Some((folder, found));
            }
            break;
        }
        Ok(earlier)
    }
}

/// Whether a finished run has cases with temporary failures. An unreadable report counts as having none.
pub(crate) fn has_transient_failures<D: Domain>(folder: &RunFolder) -> bool {
    let report = folder.read_report::<Report<D>>();
    report.is_ok_and(|report| report.cases.iter().any(is_transient))
}

fn explain_new_run(session: &Session<'_>, folder: &RunFolder, differences: &[String]) {
    let mut lines: Vec<String> = differences.iter().take(LISTED).cloned().collect();
    if differences.len() > LISTED {
        lines.push(format!("and {} more", differences.len() - LISTED));
    }
    session.printer.note(&format!(
        "starting a new run; `{}` cannot be resumed because these values differ:\n  {}",
        folder.name(),
        lines.join("\n  ")
    ));
}
