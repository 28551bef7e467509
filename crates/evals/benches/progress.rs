//! How long it takes to read the progress of a run of 10,000 cases from its journal: all of it, and one case more.

use std::fs;
use std::path::{Path, PathBuf};

use divan::Bencher;
use evals::{CaseReport, Domain, FileJournal, Journal as _, JournalTail, Report};
use futures::executor::block_on;
use serde_json::{Value, json};

fn main() {
    divan::main();
}

const CASES: usize = 10_000;

#[derive(Clone, Copy, Debug)]
struct Texts;

impl Domain for Texts {
    type Input = String;
    type Output = Value;
    type Expected = String;
    type Metadata = ();
}

/// A case of question answering with five passages, as a line of 4 kB.
fn case(number: usize) -> CaseReport<Texts> {
    let passages: Vec<String> = (0..5)
        .map(|passage| format!("passage {passage} ").repeat(60))
        .collect();
    let case = json!({
        "id": format!("case {number}"), "repeat": 1, "input": format!("question {number}?"),
        "expected": "reference", "metadata": null,
        "result": {"output": {"text": "answer ".repeat(20), "passages": passages}},
        "outcomes": [{"name": "right", "evaluator": "judge", "value": {"assertion": number.is_multiple_of(3)}, "reason": "as it is"}],
        "evaluator_failures": [], "seconds": 0.002, "timings": [], "metrics": {"tokens": 120.0}, "attributes": {},
    });
    serde_json::from_value(case).expect("a case")
}

/// A journal of all cases, open for more.
fn journal(name: &str) -> (FileJournal, PathBuf) {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("{name}.jsonl"));
    let _ = fs::remove_file(&path);
    let (journal, _) = FileJournal::open::<Texts>(&path, &json!({})).expect("a new journal");
    for number in 0..CASES {
        block_on(journal.append(&case(number))).expect("a line");
    }
    (journal, path)
}

fn read(tail: &mut JournalTail, report: &mut Report<Texts>) {
    let new = tail.read::<Texts>().expect("a journal");
    report.add_finished(new.cases.into_iter().map(|it| it.case));
}

#[divan::bench(sample_count = 10)]
fn whole_journal(bencher: Bencher<'_, '_>) {
    let (_journal, path) = journal("whole");
    bencher.bench(|| {
        let mut report = Report::running("bench", "bench", 1, CASES);
        read(&mut JournalTail::new(&path), &mut report);
        assert_eq!(report.cases.len(), CASES);
        report
    });
    let _ = fs::remove_file(path);
}

#[divan::bench(sample_count = 100)]
fn one_case_more(bencher: Bencher<'_, '_>) {
    let (journal, path) = journal("more");
    let mut report = Report::running("bench", "bench", 1, 2 * CASES);
    let mut tail = JournalTail::new(&path);
    read(&mut tail, &mut report);
    bencher.bench_local(|| {
        let next = case(report.cases.len());
        block_on(journal.append(&next)).expect("a line");
        read(&mut tail, &mut report);
    });
    let _ = fs::remove_file(path);
}
