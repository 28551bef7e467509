//! Tests of the reader of progress.

use std::fs;
use std::io::Write as _;
use std::time::{Duration, Instant};

use evals::{CaseReport, FileJournal, Journal as _, Report};
use evals_evaluators::Untyped;
use evals_metrics::Bootstrap;
use evals_runs::run_folder::{RunFolder, RunState};
use futures::executor::block_on;
use serde_json::{Value, json};

use super::progress::{Counts, Spent};
use super::reader::ProgressReader;

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
        fs::write(folder.path().join("manifest.json"), manifest.to_string()).unwrap();
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
    assert_eq!(progress.spent, Spent::Dollars(0.004));

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
    run.folder.write_report(&report, &summary, &[]).unwrap();
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
