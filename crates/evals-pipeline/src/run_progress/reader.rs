//! Reads the progress of a run again and again, and each line of its journal once.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use anyhow::{Context as _, Result, bail};
use evals::{JournalTail, Report, Summary};
use evals_metrics::Bootstrap;
use evals_rag::prices::Prices;
use evals_runs::run_folder::{Left, REPORT, RunFolder, RunState};
use evals_runs::run_record::{Benchmark, RunRecord};

use super::pace::Pace;
use super::progress::{Counts, Progress, Spent};
use super::without_texts::{WithoutTexts, without_details};

/// Resamples of an interval that is shown for a moment. A report has more.
const RESAMPLES: NonZeroU32 = NonZeroU32::new(2_000).expect("2,000 is not 0");

/// Measures may take this share of the time at most, so that a long run costs no more than a short one.
const SHARE_OF_TIME: u32 = 5;

/// Reads the progress of one run.
#[derive(Debug)]
pub struct ProgressReader {
    folder: RunFolder,
    record: RunRecord,
    /// With batches, cases finish all at once, so that their pace does not tell the remaining time.
    has_batches: bool,
    prices: Prices,
    /// The journal, if the run keeps one.
    journal: Option<JournalTail>,
    /// The finished cases.
    report: Report<WithoutTexts>,
    pace: Pace,
    measured: Measured,
    /// The final report, once there is one.
    ending: Option<Ending>,
}

/// The measures of the finished cases, which are not computed at every reading.
#[derive(Debug)]
struct Measured {
    summary: Option<Arc<Summary>>,
    /// Whether cases finished since.
    is_outdated: bool,
    /// When they may be computed again.
    due: Instant,
}

/// The state and the summary of a report.
#[derive(Debug)]
struct Ending {
    file: Version,
    state: RunState,
    summary: Option<Arc<Summary>>,
}

/// What tells a file from a later one of the same name.
type Version = (Option<SystemTime>, u64);

impl ProgressReader {
    /// Reads the manifest of the run.
    pub fn new(folder: RunFolder) -> Result<Self> {
        let record = folder.read_record()?;
        let mut report = Report::running(
            &record.name,
            &record.dataset.name,
            record.repeat,
            record.planned(),
        );
        report.pools_assertions = record.benchmark == Benchmark::Eval;
        Ok(Self {
            journal: None,
            report,
            pace: Pace::default(),
            measured: Measured {
                summary: None,
                is_outdated: false,
                due: Instant::now(),
            },
            ending: None,
            folder,
            has_batches: record.settings.has_batches()?,
            prices: record.settings.prices()?,
            record,
        })
    }

    /// The progress now. Fails if the run was deleted or its journal cannot be read; a later call may succeed.
    pub fn read(&mut self) -> Result<Progress> {
        self.read_at(Instant::now())
    }

    /// The progress at a moment, which tests choose.
    pub(super) fn read_at(&mut self, now: Instant) -> Result<Progress> {
        if RunFolder::open(self.folder.path()).is_none() {
            bail!("run `{}` was deleted", self.folder.name());
        }
        // Read before the journal, which then holds every case of a run that ended.
        let is_running = self.folder.is_locked();
        if !is_running && let Some((state, summary)) = self.read_ending() {
            return Ok(self.ended(state, summary));
        }
        self.read_journal(now)
            .with_context(|| format!("cannot read the progress of run `{}`", self.folder.name()))?;
        let counts = self.counts();
        let state = match counts {
            _ if is_running => RunState::Running,
            None => RunState::Unfinished(None),
            Some(Counts {
                planned, finished, ..
            }) => RunState::Unfinished(Some(Left {
                not_run: planned.saturating_sub(finished),
                of: planned,
            })),
        };
        let not_run = self.report.not_run;
        let is_paced = is_running && !self.has_batches;
        let pace = Some(&self.pace).filter(|_| is_paced);
        Ok(Progress {
            state,
            counts,
            spent: self.spent(),
            rate: pace.and_then(|pace| pace.rate(now)),
            time_left: pace.and_then(|pace| pace.time_for(not_run, now)),
            summary: self.summary(now, is_running),
        })
    }

    fn spent(&self) -> Spent {
        let prices = self.prices.clone();
        Spent::of(&self.record, self.has_batches, prices, &self.report.cases)
    }

    /// The progress of a run that has a report.
    fn ended(&self, state: RunState, summary: Option<Arc<Summary>>) -> Progress {
        Progress {
            state,
            counts: summary.as_deref().map(Counts::of),
            summary,
            spent: self.spent(),
            rate: None,
            time_left: None,
        }
    }

    /// The state of the report, which is read again only when it changed; `None` without one.
    fn read_ending(&mut self) -> Option<(RunState, Option<Arc<Summary>>)> {
        let file = version(&self.folder.path().join(REPORT))?;
        if self.ending.as_ref().is_none_or(|known| known.file != file) {
            let (state, summary) = self.folder.state_at_rest();
            self.ending = Some(Ending {
                file,
                state,
                summary: summary.map(Arc::new),
            });
        }
        let ending = self.ending.as_ref()?;
        Some((ending.state, ending.summary.clone()))
    }

    fn read_journal(&mut self, now: Instant) -> Result<()> {
        if self.journal.is_none() && self.folder.journal().exists() {
            self.journal = Some(JournalTail::new(self.folder.journal()));
        }
        let Some(journal) = &mut self.journal else {
            return Ok(());
        };
        let new = journal.read::<WithoutTexts>()?;
        if new.is_replaced {
            self.report.cases.clear();
            self.report.not_run = self.record.planned();
            self.pace = Pace::default();
            self.measured.is_outdated = true;
        }
        if new.cases.is_empty() {
            return Ok(());
        }
        self.measured.is_outdated = true;
        for finished in &new.cases {
            self.pace.add(finished.elapsed, finished.case.duration, now);
        }
        let cases = new
            .cases
            .into_iter()
            .map(|finished| without_details(finished.case));
        self.report.add_finished(cases);
        Ok(())
    }

    fn counts(&self) -> Option<Counts> {
        let journal = self.journal.as_ref()?;
        let cases = &self.report.cases;
        let failed = cases.iter().filter(|case| case.result.failure().is_some());
        Some(Counts {
            planned: self.record.planned(),
            finished: cases.len(),
            failed: failed.count(),
            evaluator_failures: cases.iter().map(|case| case.evaluator_failures.len()).sum(),
            damaged_lines: journal.damaged_lines(),
        })
    }

    /// The measures, computed again if cases finished since and it is time, or if no further case comes.
    fn summary(&mut self, now: Instant, is_running: bool) -> Option<Arc<Summary>> {
        let measured = &mut self.measured;
        if measured.is_outdated && (now >= measured.due || !is_running) {
            let began = Instant::now();
            let bootstrap = Bootstrap {
                resamples: RESAMPLES,
                seed: self.record.seed,
                ..Bootstrap::default()
            };
            let has_cases = !self.report.cases.is_empty();
            measured.summary = has_cases.then(|| Arc::new(self.report.summary(&bootstrap)));
            measured.is_outdated = false;
            measured.due = now + began.elapsed() * (SHARE_OF_TIME - 1);
        }
        measured.summary.clone()
    }
}

fn version(path: &Path) -> Option<Version> {
    let metadata = path.metadata().ok()?;
    Some((metadata.modified().ok(), metadata.len()))
}
