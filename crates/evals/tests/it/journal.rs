//! Journals: interrupted runs resume, and damage is found.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::num::{NonZeroU32, NonZeroUsize};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use evals::{
    Case, CaseReport, Dataset, EvaluatorError, EvaluatorIdentity, Event, Experiment, FailureClass,
    FileJournal, Journal, JournalError, Observer, Outcome, Report, TaskError, TaskScope,
};
use serde_json::{Value, json};

use crate::fakes::{Scripted, Words, case, finished, numbered, score};
use crate::scratch::Scratch;

/// Three cases with every field that a report can hold.
fn everything() -> Dataset<Words> {
    let own = Scripted::constant("check", Outcome::label("check", "tōkyō \"\n\u{0}"));
    let cases = [
        case("a").evaluator(own).expecting("é".to_owned()),
        case("b"),
        case("c"),
    ];
    let check = Scripted::new("check", |context| match context.case.id.as_str() {
        "b" => Err(EvaluatorError::new("timeout").classed(FailureClass::Transient)),
        _ => Ok(vec![
            Outcome::score("check", 0.1 + 0.2),
            Outcome::undefined("recall", "no relevant documents"),
        ]),
    });
    let length = Scripted::new("length", |context| {
        context.scope.add_metric("tokens", 0.5);
        context.scope.timing("judge", Duration::from_micros(7));
        Ok(vec![Outcome::assertion("length", context.repeat == 1)])
    });
    let dataset = Dataset::new("words", cases).unwrap();
    dataset.evaluator(check).evaluator(length)
}

async fn answer(case: Arc<Case<Words>>, scope: TaskScope) -> Result<String, TaskError> {
    scope.metric("tokens", 12.0);
    scope.metric("cost", f64::NAN);
    scope.cached_timing("generate", Duration::from_nanos(123_456_789));
    scope.attribute("model", json!({"name": "m1"}));
    match case.id.as_str() {
        "c" => Err(TaskError::new("refused").classed(FailureClass::Content)),
        _ => Ok(case.input.clone()),
    }
}

fn identity() -> Value {
    json!({"seed": 7, "judge": {"model": "m1"}})
}

fn open(path: &Path) -> Result<(FileJournal, Vec<CaseReport<Words>>), JournalError> {
    FileJournal::open(path, &identity())
}

/// One session: its report, and how many cases it resumed and damaged lines it found.
async fn session(path: &Path) -> (Report<Words>, usize, usize) {
    let (journal, cases) = open(path).unwrap();
    let (resumed, damaged) = (cases.len(), journal.damaged_lines());
    let report = Experiment::new(everything(), answer)
        .repeat(NonZeroU32::new(2).unwrap())
        .journal(Arc::new(journal))
        .resume(cases)
        .run()
        .await;
    (report, resumed, damaged)
}

/// A report without durations.
fn timeless(report: &Report<Words>) -> Value {
    let mut report = serde_json::to_value(report).unwrap();
    report["seconds"] = Value::Null;
    for case in report["cases"].as_array_mut().unwrap() {
        case["seconds"] = Value::Null;
    }
    report
}

async fn undisturbed() -> Report<Words> {
    let experiment = Experiment::new(everything(), answer).repeat(NonZeroU32::new(2).unwrap());
    experiment.run().await
}

#[tokio::test]
async fn a_run_resumed_from_any_cut_of_its_journal_equals_an_uninterrupted_one() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    let expected = timeless(&undisturbed().await);
    let (whole, ..) = session(&path).await;
    assert_eq!(timeless(&whole), expected);

    let bytes = fs::read(&path).unwrap();
    let last_line = bytes[..bytes.len() - 1]
        .iter()
        .rposition(|byte| *byte == b'\n');
    let last_line = last_line.unwrap();
    let near_a_line_feed = |length: usize| {
        bytes[..length]
            .iter()
            .rev()
            .take(2)
            .any(|byte| *byte == b'\n')
    };
    let lengths = 0..=bytes.len();
    let lengths = lengths
        .filter(|length| *length > last_line || length % 13 == 0 || near_a_line_feed(*length));
    for length in lengths {
        fs::write(&path, &bytes[..length]).unwrap();
        let feeds = bytes[..length].split(|byte| *byte == b'\n').count() - 1;
        // A line is complete even without its line feed; the first one is the header.
        let whole_lines = feeds + usize::from(bytes.get(length) == Some(&b'\n'));
        let (report, resumed, damaged) = session(&path).await;
        assert_eq!(timeless(&report), expected, "{length} bytes");
        let expected = (whole_lines.saturating_sub(1), 0);
        assert_eq!((resumed, damaged), expected, "{length} bytes");
        let (journal, cases) = open(&path).unwrap();
        assert_eq!((cases.len(), journal.damaged_lines()), (6, 0));
    }
}

#[tokio::test]
async fn a_resumed_case_is_unchanged() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    let (first, ..) = session(&path).await;
    let (second, resumed, _) = session(&path).await;
    assert_eq!(resumed, 6);
    let cases = |report: &Report<Words>| serde_json::to_value(&report.cases).unwrap();
    assert_eq!(cases(&second), cases(&first), "durations included");
    let check = EvaluatorIdentity::named("check");
    assert_eq!(first.cases[0].own_evaluators, [check]);
    assert!(first.cases[0].outcome("check_2").is_some());
    assert_eq!(first.cases[0].expected.as_deref(), Some("é"));
}

#[tokio::test]
async fn a_damaged_line_is_counted_and_its_case_runs_again() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    session(&path).await;
    let text = fs::read_to_string(&path).unwrap();
    let damaged = text.replacen("refused", "rfeused", 1) + "not a line\n";
    fs::write(&path, &damaged).unwrap();
    let (report, resumed, lines) = session(&path).await;
    assert_eq!((resumed, lines), (5, 2));
    assert_eq!(timeless(&report), timeless(&undisturbed().await));
    assert!(
        fs::read_to_string(&path).unwrap().starts_with(&damaged),
        "nothing is removed"
    );
}

#[tokio::test]
async fn the_last_line_of_a_repeated_case_counts() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    let (journal, _) = open(&path).unwrap();
    for value in [1.0, 0.0] {
        let case = finished("a", vec![score("s", value)]);
        journal.append(&case).await.unwrap();
    }
    let again = CaseReport {
        repeat: 2,
        ..finished("a", vec![])
    };
    journal.append(&again).await.unwrap();
    drop(journal);
    let (_, cases) = open(&path).unwrap();
    let scores: Vec<_> = cases.iter().map(|case| case.score("s")).collect();
    assert_eq!(scores, [Some(0.0), None]);
}

#[test]
fn a_journal_that_is_open_is_locked() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    let first = open(&path).unwrap();
    let error = open(&path).unwrap_err();
    let expected = format!(
        "another process is writing to journal `{}`; wait until it ends",
        path.display()
    );
    assert_eq!(error.to_string(), expected);
    drop(first);
    open(&path).unwrap();
}

#[test]
fn a_journal_of_another_run_is_refused_with_the_setting_that_differs() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    drop(open(&path).unwrap());
    let written = fs::read(&path).unwrap();
    let other = json!({"judge": {"model": "m2"}, "seed": 8});
    let error = FileJournal::open::<Words>(&path, &other).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "journal `{}` belongs to a run with other settings (judge.model: \"m1\" -> \"m2\"); start a new run, or resume that one with its own settings",
            path.display()
        )
    );
    assert_eq!(fs::read(&path).unwrap(), written);
}

#[test]
fn a_file_that_is_not_a_journal_is_refused_and_unchanged() {
    let scratch = Scratch::new();
    let path = scratch.path("notes.txt");
    for content in [
        "dear diary",
        "dear diary\n",
        "{\"crc32\":\"00000000\",}\n",
        "\n",
    ] {
        fs::write(&path, content).unwrap();
        let error = open(&path).unwrap_err();
        let expected = format!(
            "`{}` is not a journal, or its first line is damaged; start a new run",
            path.display()
        );
        assert_eq!(error.to_string(), expected);
        assert_eq!(fs::read_to_string(&path).unwrap(), content);
    }
}

#[test]
fn a_journal_of_another_version_is_refused() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    // The check is Python 3.11.7's `zlib.crc32` of the bytes after it.
    let header = "{\"crc32\":\"60c6c7a0\",\"journal\":{\"version\":2,\"identity\":{}}}\n";
    fs::write(&path, header).unwrap();
    let error = open(&path).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "journal `{}` has version 2, but this build reads version 1; start a new run, or resume with the version that wrote it",
            path.display()
        )
    );
}

#[test]
fn a_journal_that_cannot_be_opened_names_its_path_and_the_reason() {
    let scratch = Scratch::new();
    let path = scratch.path("no such folder").join("journal.jsonl");
    let error = open(&path).unwrap_err();
    let expected = format!("could not open journal `{}`", path.display());
    assert_eq!(error.to_string(), expected);
    let JournalError::Io { source, .. } = error else {
        panic!("another error: {error}");
    };
    assert_eq!(source.kind(), io::ErrorKind::NotFound);
}

/// Stores some cases, then calls its closure.
struct Full<F> {
    room: AtomicUsize,
    instead: F,
}

impl<F> std::fmt::Debug for Full<F> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Full")
    }
}

#[async_trait]
impl<F: Fn() -> io::Error + Send + Sync> Journal<Words> for Full<F> {
    async fn append(&self, _: &CaseReport<Words>) -> Result<(), JournalError> {
        let room = self.room.load(Ordering::Relaxed);
        if room > 0 {
            self.room.store(room - 1, Ordering::Relaxed);
            return Ok(());
        }
        Err(JournalError::Io {
            action: "write to",
            path: "journal.jsonl".into(),
            source: (self.instead)(),
        })
    }
}

async fn run_into(journal: impl Journal<Words> + 'static) -> (Report<Words>, Vec<String>) {
    let told = Arc::new(Told::default());
    let task = |case: Arc<Case<Words>>, _: TaskScope| async move { Ok(case.input.clone()) };
    let report = Experiment::new(numbered(6), task)
        .concurrency(NonZeroUsize::MIN)
        .observer(told.clone())
        .journal(Arc::new(journal))
        .run()
        .await;
    let told = told.0.lock().unwrap().clone();
    (report, told)
}

#[tokio::test]
async fn a_case_that_the_journal_cannot_store_stops_the_run() {
    let full = Full {
        room: AtomicUsize::new(2),
        instead: || io::Error::other("no space left"),
    };
    let (report, told) = run_into(full).await;
    assert_eq!((report.cases.len(), report.not_run), (2, 4));
    assert_eq!(
        report.stopped.as_deref(),
        Some("could not write to journal `journal.jsonl`: no space left")
    );
    assert_eq!(told, ["0 of 6 before", "case 0", "case 1"]);

    let broken = Full {
        room: AtomicUsize::new(0),
        instead: || panic!("out of range"),
    };
    let (report, _) = run_into(broken).await;
    assert_eq!(report.stopped.as_deref(), Some("journal: out of range"));
    assert_eq!(report.not_run, 6);
}

/// Records the finished cases that an observer sees.
#[derive(Default)]
struct Told(Mutex<Vec<String>>);

impl Observer<Words> for Told {
    fn on_event(&self, event: Event<'_, Words>) {
        let line = match event {
            Event::Started { total, resumed, .. } => format!("{resumed} of {total} before"),
            Event::CaseFinished { report, .. } => report.id.to_string(),
            _ => return,
        };
        self.0.lock().unwrap().push(line);
    }
}

#[tokio::test]
async fn resumed_cases_keep_their_places_and_do_not_run_again() {
    let told = Arc::new(Told::default());
    let task = |case: Arc<Case<Words>>, _: TaskScope| async move { Ok(format!("new {}", case.id)) };
    let earlier = ["case 3", "no longer there", "case 1", "case 3"].map(|id| finished(id, vec![]));
    let second = CaseReport {
        repeat: 2,
        ..finished("case 0", vec![])
    };
    let mut earlier = Vec::from(earlier);
    earlier.push(second);
    let report = Experiment::new(numbered(4), task)
        .concurrency(NonZeroUsize::MIN)
        .observer(told.clone())
        .resume(earlier)
        .elapsed_before(Duration::from_hours(1))
        .run()
        .await;
    let outputs: Vec<_> = report
        .cases
        .iter()
        .map(|case| case.result.output().unwrap().as_str())
        .collect();
    let expected = [
        "new case 0",
        "output of case 1",
        "new case 2",
        "output of case 3",
    ];
    assert_eq!(outputs, expected);
    assert_eq!(
        *told.0.lock().unwrap(),
        ["2 of 4 before", "case 0", "case 2"]
    );
    assert_eq!(report.not_run, 0);
    assert!(report.duration >= Duration::from_hours(1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lines_of_many_workers_do_not_mix() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    let (journal, _) = open(&path).unwrap();
    let journal = Arc::new(journal);
    let task = |case: Arc<Case<Words>>, _: TaskScope| async move { Ok(case.input.repeat(500)) };
    let experiment = Experiment::new(numbered(300), task).journal(journal.clone());
    let report = experiment
        .concurrency(NonZeroUsize::new(16).unwrap())
        .run()
        .await;
    journal.sync().unwrap();
    drop(journal);
    let (journal, cases) = open(&path).unwrap();
    assert_eq!(journal.damaged_lines(), 0);
    let ids = |cases: &[CaseReport<Words>]| -> BTreeSet<String> {
        cases.iter().map(|case| case.id.to_string()).collect()
    };
    assert_eq!(ids(&cases), ids(&report.cases));
    assert!(journal.elapsed() > Duration::ZERO);
}

#[tokio::test]
async fn time_of_other_runs_counts_once_their_cases_are_taken_over() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    let (journal, _) = open(&path).unwrap();
    let hour = Duration::from_hours(1);
    let journal = journal.elapsed_before(hour);
    let taken_over = finished("a", Vec::new());
    Journal::<Words>::append(&journal, &taken_over)
        .await
        .unwrap();
    drop(journal);
    let (journal, _) = open(&path).unwrap();
    assert!((hour..2 * hour).contains(&journal.elapsed()));
}

#[tokio::test]
async fn the_cases_of_a_journal_are_counted_while_it_is_open() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    session(&path).await;
    assert_eq!(FileJournal::count(&path).unwrap(), 6, "three cases, twice");
    let (journal, cases) = open(&path).unwrap();
    let again: &dyn Journal<Words> = &journal;
    again.append(&cases[0]).await.unwrap();
    assert_eq!(FileJournal::count(&path).unwrap(), 6, "one of them again");
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() / 2]).unwrap();
    assert!(FileJournal::count(&path).unwrap() < 6);
    fs::write(&path, "text").unwrap();
    let error = FileJournal::count(&path).unwrap_err();
    assert!(matches!(error, JournalError::NoHeader { .. }), "{error}");
}

#[cfg(unix)]
#[test]
fn anything_but_a_regular_file_is_refused_at_once() {
    let scratch = Scratch::new();
    let pipe = scratch.path("journal.jsonl");
    let made = std::process::Command::new("mkfifo")
        .arg(&pipe)
        .status()
        .unwrap();
    assert!(made.success());
    for path in [pipe.as_path(), Path::new("/dev/zero"), Path::new("/")] {
        let error = open(path).unwrap_err();
        assert!(matches!(error, JournalError::NotRegular { .. }), "{error}");
        let error = FileJournal::count(path).unwrap_err();
        assert!(matches!(error, JournalError::NotRegular { .. }), "{error}");
    }
}
