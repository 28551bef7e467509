//! The tail of a journal: what another process adds is read once, and a report of a running run follows it.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use evals::{
    CaseReport, Dataset, Experiment, FileJournal, Journal as _, JournalError, JournalTail, Outcome,
    Report, TaskError,
};
use evals_metrics::Bootstrap;
use serde_json::{Value, json};

use crate::fakes::{Scripted, Words, case};
use crate::scratch::Scratch;

/// The report of a run with a journal at the path. One of its cases fails.
async fn run(path: &Path, count: usize) -> Report<Words> {
    let (journal, _) = FileJournal::open::<Words>(path, &json!({"seed": 7})).unwrap();
    let cases = (0..count).map(|number| case(&format!("c{number:02}")));
    let dataset = Dataset::new("words", cases.collect::<Vec<_>>()).unwrap();
    // Both evaluators call their outcome `length`, so a report has to number the second one.
    let short = Scripted::new("short", |context| {
        let is_even = context
            .case
            .id
            .as_str()
            .ends_with(['0', '2', '4', '6', '8']);
        Ok(vec![Outcome::assertion("length", is_even)])
    });
    let long = Scripted::new("long", |_| Ok(vec![Outcome::score("length", 0.25)]));
    Experiment::new(
        dataset.evaluator(short).evaluator(long),
        |case, _| async move {
            match case.id.as_str() {
                "c03" => Err(TaskError::new("refused")),
                _ => Ok(case.input.clone()),
            }
        },
    )
    .journal(Arc::new(journal))
    .run()
    .await
}

fn ids(cases: &[CaseReport<Words>]) -> Vec<&str> {
    cases.iter().map(|case| case.id.as_str()).collect()
}

/// The ids of the new cases, and whether the file is another one.
fn read(tail: &mut JournalTail) -> (Vec<String>, bool) {
    let new = tail.read::<Words>().unwrap();
    let ids = new.cases.iter().map(|it| it.case.id.to_string());
    (ids.collect(), new.is_replaced)
}

#[tokio::test]
async fn a_tail_reads_every_case_once_wherever_a_reading_ended() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    run(&path, 3).await;
    let bytes = fs::read(&path).unwrap();
    let whole = read(&mut JournalTail::new(&path)).0;
    assert_eq!(whole.len(), 3);
    let is_near_a_feed = |length: usize| {
        let near = &bytes[length.saturating_sub(2)..(length + 2).min(bytes.len())];
        near.contains(&b'\n')
    };
    let lengths = 0..=bytes.len();
    for length in lengths.filter(|length| length % 31 == 0 || is_near_a_feed(*length)) {
        fs::write(&path, &bytes[..length]).unwrap();
        let mut tail = JournalTail::new(&path);
        let (first, _) = read(&mut tail);
        assert_eq!(
            read(&mut tail),
            (Vec::new(), false),
            "{length} bytes, again"
        );
        fs::write(&path, &bytes).unwrap();
        let (rest, is_replaced) = read(&mut tail);
        assert_eq!([first, rest].concat(), whole, "{length} bytes");
        assert!(!is_replaced && tail.damaged_lines() == 0, "{length} bytes");
        assert_eq!(read(&mut tail), (Vec::new(), false));
    }
}

#[tokio::test]
async fn a_tail_skips_a_line_that_a_later_session_marked_as_cut() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    run(&path, 2).await;
    let bytes = fs::read(&path).unwrap();
    fs::write(&path, &bytes[..bytes.len() - 9]).unwrap();
    let mut tail = JournalTail::new(&path);
    let first = read(&mut tail).0;
    assert_eq!(first.len(), 1);

    let (journal, cases) = FileJournal::open::<Words>(&path, &json!({"seed": 7})).unwrap();
    journal.append(&cases[0]).await.unwrap();
    assert_eq!(read(&mut tail), (first, false));
    assert_eq!(tail.damaged_lines(), 0);
}

#[tokio::test]
async fn a_tail_counts_a_damaged_line_and_reads_on() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    run(&path, 3).await;
    let mut tail = JournalTail::new(&path);
    let text = fs::read_to_string(&path).unwrap();
    let damaged = text.replacen("\"repeat\":1", "\"repeat\":2", 1);
    fs::write(&path, damaged).unwrap();
    assert_eq!(read(&mut tail).0.len(), 2);
    assert_eq!(tail.damaged_lines(), 1);
}

#[tokio::test]
async fn a_tail_starts_again_when_the_file_is_truncated_or_replaced() {
    let scratch = Scratch::new();
    let [path, other] = ["journal.jsonl", "other.jsonl"].map(|name| scratch.path(name));
    run(&path, 3).await;
    run(&other, 6).await;
    let mut tail = JournalTail::new(&path);
    let all = read(&mut tail).0;

    let bytes = fs::read(&path).unwrap();
    let header = bytes.iter().position(|byte| *byte == b'\n').unwrap() + 1;
    fs::write(&path, &bytes[..header]).unwrap();
    assert_eq!(read(&mut tail), (Vec::new(), true));
    fs::write(&path, &bytes).unwrap();
    assert_eq!(read(&mut tail), (all, false));

    // Longer than before, so only its content shows that it is another file.
    fs::copy(&other, &path).unwrap();
    let (replaced, is_replaced) = read(&mut tail);
    assert_eq!((replaced.len(), is_replaced), (6, true));
}

#[tokio::test]
async fn a_tail_reads_everything_again_after_an_error() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    let mut tail = JournalTail::new(&path);
    let error = tail.read::<Words>().unwrap_err();
    assert!(matches!(error, JournalError::Io { action: "open", .. }));
    fs::write(&path, "no journal\n").unwrap();
    let error = tail.read::<Words>().unwrap_err();
    assert!(matches!(error, JournalError::NoHeader { .. }));
    fs::remove_file(&path).unwrap();
    run(&path, 2).await;
    let (cases, is_replaced) = read(&mut tail);
    assert_eq!((cases.len(), is_replaced), (2, true));
}

/// The measures of a summary, without what depends on time.
fn measures(report: &Report<Words>) -> Value {
    let mut summary = serde_json::to_value(report.summary(&Bootstrap::default())).unwrap();
    let members = summary.as_object_mut().unwrap();
    members.retain(|name, _| !["seconds", "task_time"].contains(&name.as_str()));
    summary
}

#[tokio::test]
async fn the_report_of_a_running_run_has_the_measures_of_the_final_report() {
    let scratch = Scratch::new();
    let path = scratch.path("journal.jsonl");
    let last = run(&path, 10).await;
    let finished = JournalTail::new(&path).read::<Words>().unwrap().cases;
    let finished: Vec<_> = finished.into_iter().map(|it| it.case).collect();

    let mut report = Report::running("words", "words", 1, 10);
    report.add_finished(finished[..4].to_vec());
    assert_eq!((report.cases.len(), report.not_run), (4, 6));
    let names = |report: &Report<Words>| -> Vec<String> {
        let summary = report.summary(&Bootstrap::default());
        let scores = summary.scores.into_iter().map(|(name, _)| name);
        let assertions = summary.assertions.into_iter().map(|(name, _)| name);
        scores.chain(assertions).collect()
    };
    assert_eq!(names(&report), names(&last));
    assert_eq!(names(&report), ["length_2", "length"]);

    // In another order, and some a second time.
    report.add_finished(finished[2..].iter().rev().cloned());
    assert_eq!((ids(&report.cases), report.not_run), (ids(&last.cases), 0));
    assert_eq!(measures(&report), measures(&last));
}

#[tokio::test]
async fn a_later_result_of_a_repetition_replaces_the_earlier_one() {
    let scratch = Scratch::new();
    let last = run(&scratch.path("journal.jsonl"), 4).await;
    let mut report = Report::running("words", "words", 1, 5);
    report.add_finished(last.cases.clone());
    let mut again = last.cases[3].clone();
    assert!(again.result.failure().is_some());
    again.result = last.cases[0].result.clone();
    report.add_finished([again]);
    assert_eq!((report.cases.len(), report.not_run), (4, 1));
    assert!(report.cases[3].result.failure().is_none());
}
