//! Reads the progress of a run again and again, and each line of its journal once.

use std::num::NonZeroU32;
use std::path::Path;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use anyhow::{Context as _, Result, bail};
use evals::{JournalTail, Report, Summary};
use evals_metrics::Bootstrap;

use super::pace::Pace;
use super::plan::Plan;
use super::progress::{Counts, Progress};
use super::skimmed::{Skimmed, slimmed};
use crate::run_folder::{Left, REPORT, RunFolder, RunState};

/// Resamples of an interval that is shown for a moment. A report has more.
const RESAMPLES: NonZeroU32 = NonZeroU32::new(2_000).expect("2,000 is not 0");

/// Measures may take this share of the time at most, so that a long run costs no more than a short one.
const SHARE_OF_TIME: u32 = 5;

/// Reads the progress of one run.
#[derive(Debug)]
pub(crate) struct ProgressReader {
    folder: RunFolder,
    plan: Plan,
    /// The journal, if the run keeps one.
    journal: Option<JournalTail>,
    /// The finished cases.
    report: Report<Skimmed>,
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
    pub(crate) fn new(folder: RunFolder) -> Result<Self> {
        let plan: Plan = folder.read_manifest()?;
        let header = &plan.header;
        let mut report = Report::running(
            &header.name,
            &header.dataset.name,
            plan.repeat,
            plan.cases(),
        );
        report.pools_assertions = header.benchmark == "eval";
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
            plan,
        })
    }

    /// The progress now. Fails if the run was deleted or its journal cannot be read; a later call may succeed.
    pub(crate) fn read(&mut self) -> Result<Progress> {
        self.read_at(Instant::now())
    }

    fn read_at(&mut self, now: Instant) -> Result<Progress> {
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
        let pace = Some(&self.pace).filter(|_| is_running);
        Ok(Progress {
            state,
            counts,
            spent: self.plan.spent(&self.report.cases),
            rate: pace.and_then(|pace| pace.rate(now)),
            time_left: pace.and_then(|pace| pace.time_for(not_run, now)),
            summary: self.summary(now, is_running),
        })
    }

    /// The progress of a run that has a report.
    fn ended(&self, state: RunState, summary: Option<Arc<Summary>>) -> Progress {
        Progress {
            state,
            counts: summary.as_deref().map(Counts::of),
            summary,
            spent: self.plan.spent(&self.report.cases),
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
        let new = journal.read::<Skimmed>()?;
        if new.is_replaced {
            self.report.cases.clear();
            self.report.not_run = self.plan.cases();
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
        let cases = new.cases.into_iter().map(|finished| slimmed(finished.case));
        self.report.add_finished(cases);
        Ok(())
    }

    fn counts(&self) -> Option<Counts> {
        let journal = self.journal.as_ref()?;
        let cases = &self.report.cases;
        let failed = cases.iter().filter(|case| case.result.failure().is_some());
        Some(Counts {
            planned: self.plan.cases(),
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
                seed: self.plan.header.seed,
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

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::Write as _;
    use std::time::Duration;

    use evals::{CaseReport, FileJournal, Journal as _};
    use evals_evaluators::Untyped;
    use futures::executor::block_on;
    use serde_json::{Value, json};

    use super::*;

    /// A run of four cases, each twice, whose judge costs 2 USD for a million tokens read.
    struct Run {
        runs: tempfile::TempDir,
        folder: RunFolder,
        journal: FileJournal,
    }

    impl Run {
        fn start() -> Self {
            let runs = tempfile::tempdir().unwrap();
            let time = "2026-05-01T12:00:00Z".parse().unwrap();
            let folder = RunFolder::create(runs.path(), time, "mine").unwrap();
            let journal = FileJournal::open::<Untyped>(folder.journal(), &json!({}))
                .unwrap()
                .0;
            let manifest = json!({
                "schema_version": 1, "benchmark": "qa", "name": "mine", "profile": "hybrid", "seed": 0,
                "started": "2026-05-01T12:00:00Z", "dataset": {"name": "sample", "questions": 4}, "repeat": 2,
                "models": {
                    "answerer": {"provider": "embedded", "name": "extractive"},
                    "judge": {"provider": "openai", "name": "j"},
                },
                "settings": {"prices": {"j": {"input": 2.0, "output": 8.0}}},
            });
            folder.write_manifest(&manifest).unwrap();
            Self {
                runs,
                folder,
                journal,
            }
        }

        fn finish(&self, case: Value) {
            let case: CaseReport<Untyped> = serde_json::from_value(case).unwrap();
            block_on(self.journal.append(&case)).unwrap();
        }

        /// Another process's view of the folder.
        fn reader(&self) -> ProgressReader {
            ProgressReader::new(RunFolder::open(self.folder.path()).unwrap()).unwrap()
        }
    }

    fn case(id: &str, repeat: u32, passed: bool) -> Value {
        json!({
            "id": id, "repeat": repeat, "input": {"question": "?"}, "expected": "x", "metadata": {},
            "result": {"output": {"text": "long ".repeat(50)}},
            "outcomes": [{"name": "equivalence", "evaluator": "judge", "value": {"assertion": passed}, "reason": "so"}],
            "evaluator_failures": [], "seconds": 0.0, "timings": [],
            "metrics": {"judge input tokens": 1000.0}, "attributes": {"documents": ["d1"]},
        })
    }

    fn failed(id: &str) -> Value {
        let mut case = case(id, 1, true);
        case["result"] = json!({"failure": {"kind": "error", "message": "timeout"}});
        case["outcomes"] = json!([]);
        case["evaluator_failures"] =
            json!([{"evaluator": "judge", "kind": "error", "message": "no verdict"}]);
        case
    }

    fn counts(finished: usize, failed: usize) -> Counts {
        Counts {
            planned: 8,
            finished,
            failed,
            evaluator_failures: failed,
            damaged_lines: 0,
        }
    }

    #[test]
    fn progress_follows_a_growing_journal() {
        let run = Run::start();
        let mut reader = run.reader();
        let progress = reader.read().unwrap();
        assert_eq!(progress.state, RunState::Running);
        assert_eq!(progress.counts, Some(counts(0, 0)));
        assert!(progress.summary.is_none() && progress.rate.is_none());

        run.finish(case("a", 1, true));
        run.finish(case("b", 1, false));
        let progress = reader.read().unwrap();
        assert_eq!(progress.counts, Some(counts(2, 0)));
        let summary = progress.summary.unwrap();
        let (name, accuracy) = &summary.accuracy[0];
        assert_eq!(
            (name.as_str(), accuracy.scored.value),
            ("equivalence", Some(0.5))
        );
        assert!(accuracy.scored.interval.is_some());
        assert!(progress.rate.unwrap() > 0.0 && progress.time_left.is_some());
        assert_eq!(progress.spent, super::super::Spent::Dollars(0.004));

        run.finish(failed("c"));
        let later = Instant::now() + Duration::from_mins(1);
        let progress = reader.read_at(later).unwrap();
        assert_eq!(progress.counts, Some(counts(3, 1)));
        assert_eq!(progress.summary.unwrap().failed, 1);
    }

    #[test]
    fn a_torn_line_counts_once_it_is_whole_and_a_damaged_one_never() {
        let run = Run::start();
        run.finish(case("a", 1, true));
        run.finish(case("b", 1, true));
        let path = run.folder.journal();
        let whole = fs::read(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 40]).unwrap();
        let mut reader = run.reader();
        assert_eq!(reader.read().unwrap().counts, Some(counts(1, 0)));
        fs::write(&path, &whole).unwrap();
        assert_eq!(reader.read().unwrap().counts, Some(counts(2, 0)));

        let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(b"{\"crc32\":\"00000000\",\"case\":{}}\n")
            .unwrap();
        let found = reader.read().unwrap().counts.unwrap();
        assert_eq!((found.finished, found.damaged_lines), (2, 1));
    }

    #[test]
    fn a_replaced_journal_is_counted_from_its_start() {
        let run = Run::start();
        for id in ["a", "b", "c"] {
            run.finish(case(id, 1, true));
        }
        let path = run.folder.journal();
        let whole = fs::read(&path).unwrap();
        let mut reader = run.reader();
        assert_eq!(reader.read().unwrap().counts, Some(counts(3, 0)));
        let lines: Vec<&[u8]> = whole.split_inclusive(|byte| *byte == b'\n').collect();
        fs::write(&path, lines[..2].concat()).unwrap();
        assert_eq!(reader.read().unwrap().counts, Some(counts(1, 0)));
    }

    #[test]
    fn a_run_that_was_killed_is_unfinished() {
        let run = Run::start();
        run.finish(case("a", 1, true));
        let mut reader = run.reader();
        let Run {
            runs,
            folder,
            journal,
        } = run;
        drop((folder, journal));
        let progress = reader.read().unwrap();
        assert_eq!(progress.state.to_string(), "unfinished, 7 of 8 not run");
        assert_eq!((progress.rate, progress.time_left), (None, None));
        assert!(progress.summary.is_some());
        drop(runs);
        let error = reader.read().unwrap_err();
        assert!(error.to_string().ends_with("was deleted"), "{error}");
    }

    #[test]
    fn a_finished_run_has_the_counts_and_measures_of_its_report() {
        let run = Run::start();
        let mut report = Report::<Untyped>::running("mine", "sample", 2, 8);
        for id in ["a", "b", "c", "d"] {
            for repeat in [1, 2] {
                report.add_finished([serde_json::from_value(case(id, repeat, true)).unwrap()]);
            }
        }
        let summary = report.summary(&Bootstrap::default());
        run.folder.write_report(&report, &summary).unwrap();
        let mut reader = run.reader();
        assert_eq!(
            reader.read().unwrap().state,
            RunState::Running,
            "still locked"
        );
        let Run {
            runs: _runs,
            folder,
            journal,
        } = run;
        drop((folder, journal));
        for _ in 0..2 {
            let progress = reader.read().unwrap();
            assert_eq!(progress.state.to_string(), "finished");
            assert_eq!(progress.counts, Some(counts(8, 0)));
            assert_eq!(*progress.summary.unwrap(), summary);
        }
    }

    #[test]
    fn a_run_without_a_journal_has_only_a_state() {
        let run = Run::start();
        fs::remove_file(run.folder.journal()).unwrap();
        let progress = run.reader().read().unwrap();
        assert_eq!(progress.state, RunState::Running);
        assert!(progress.counts.is_none() && progress.summary.is_none());
    }
}
