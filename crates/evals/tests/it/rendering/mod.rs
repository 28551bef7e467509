//! Snapshots of all renderers, with the reports that they render.

mod cases;
mod console;
mod files;
mod markdown;
mod tables;

use crate::fakes::{Words, failed, finished, outcome, report, score, timing, undefined};
use evals::render::{self, Console};
use evals::{
    CaseReport, Comparison, EvaluatorFailure, EvaluatorOrigin, FailureKind, Report, Summary, Value,
};
use evals_metrics::Bootstrap;
use std::collections::BTreeMap;

const HOSTILE: &str = "# a|b, \"c\"\nd\r\n\x1b[31mred <b>*x*</b> [l](u)";

/// A retrieval run of 40 questions: two have no relevant documents, and seven failed.
fn retrieval() -> Report<Words> {
    let mut cases: Vec<_> = (0..31).map(question).collect();
    for id in ["q31", "q32"] {
        let reason = "no relevant documents";
        cases.push(finished(
            id,
            vec![undefined("RR@5", reason), undefined("nDCG@10", reason)],
        ));
    }
    for number in 33..39 {
        cases.push(failed(
            &format!("q{number}"),
            "could not search: connection refused",
        ));
    }
    let mut broken = question(39);
    broken.outcomes.pop();
    broken.evaluator_failures.push(EvaluatorFailure {
        evaluator: "nDCG@10".to_owned(),
        origin: EvaluatorOrigin::default(),
        kind: FailureKind::Error,
        class: None,
        message: "gain is too large".to_owned(),
    });
    cases.push(broken);
    report(cases)
}

fn question(number: u32) -> CaseReport<Words> {
    let rank = f64::from(number % 4 + 1);
    let scores = vec![
        score("RR@5", 1.0 / rank),
        score("nDCG@10", 1.0 / (rank + 1.0).log2()),
    ];
    let mut case = finished(&format!("q{number}"), scores);
    let micros = 1_000 + 37 * u64::from(number);
    case.timings = vec![
        timing("embed", 420, number.is_multiple_of(3)),
        timing("search", micros, false),
    ];
    case
}

/// One outcome of each kind, with text that would break out of its cell if it were not escaped.
fn awkward() -> Report<Words> {
    let mut wide = finished(
        "東京都庁 🗼",
        vec![
            score("nDCG|10", 0.25),
            outcome(HOSTILE, Value::Assertion(true)),
        ],
    );
    wide.outcomes
        .push(outcome("tone", Value::Label(HOSTILE.to_owned())));
    wide.outcomes.push(outcome("品質", Value::Assertion(false)));
    wide.metrics = BTreeMap::from([("tokens".to_owned(), 12_345.6), ("cost".to_owned(), 0.002)]);
    wide.timings = vec![
        timing("em|bed", 1_500, false),
        timing("em|bed", 500, false),
        timing("judge", 2_000_000, true),
    ];
    let long = failed(HOSTILE, &"a very long message ".repeat(20));
    let mut report = report(vec![wide, long]);
    report.name = format!("{HOSTILE} {}", "long name ".repeat(12));
    report
}

fn all_failed() -> Report<Words> {
    report(
        (0..3)
            .map(|number| failed(&format!("q{number}"), "connection refused"))
            .collect(),
    )
}

fn interrupted() -> Report<Words> {
    Report {
        repeat: 2,
        interrupted: true,
        not_run: 3,
        ..report(vec![
            finished("a", vec![score("s", 1.0)]),
            CaseReport {
                repeat: 2,
                ..failed("a", "gone")
            },
        ])
    }
}

fn summary(report: &Report<Words>) -> Summary {
    report.summary(&Bootstrap::default())
}

fn written(write: impl FnOnce(&mut Vec<u8>) -> std::io::Result<()>) -> String {
    let mut out = Vec::new();
    write(&mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn on_console(console: Console, report: &Report<Words>) -> String {
    written(|out| console.report(out, report, &summary(report)))
}

fn as_markdown(report: &Report<Words>) -> String {
    written(|out| render::markdown::report(out, report, &summary(report)))
}

fn plain(width: u16) -> Console {
    Console {
        width,
        ..Console::default()
    }
}

/// The reason comes from a server, so it may contain anything.
fn stopped() -> Report<Words> {
    Report {
        stopped: Some("quota *exhausted*\nsee <billing>".to_owned()),
        ..interrupted()
    }
}

#[test]
fn a_stopped_run_says_why_and_how_much_is_missing() {
    let report = stopped();
    let warning = "stopped, 3 of 5 were not run: quota *exhausted* see <billing>";
    let page = on_console(plain(80), &report);
    assert_eq!(page.lines().nth(2), Some(warning));
    let page = as_markdown(&report);
    let escaped = r"**stopped, 3 of 5 were not run: quota \*exhausted\* see &lt;billing&gt;**";
    assert!(page.lines().any(|line| line == escaped), "{page}");

    let document = written(|out| render::json::report(out, &report, &summary(&report)));
    let document: serde_json::Value = serde_json::from_str(&document).unwrap();
    assert_eq!(document["stopped"], "quota *exhausted*\nsee <billing>");
    assert_eq!(document["summary"]["stopped"], document["stopped"]);

    let comparison = Comparison::new(&[("bm25", &summary(&report))]);
    let page = written(|out| plain(80).comparison(out, &comparison));
    let note = "bm25 was stopped, 3 of 5 were not run: quota *exhausted* see <billing>";
    assert!(page.lines().any(|line| line == note), "{page}");
}

/// Case a lacks one repetition of every measure, case b lacks all of them.
fn repeated() -> Report<Words> {
    let outcomes = || {
        vec![
            score("RR", 1.0),
            outcome("exact", Value::Assertion(true)),
            outcome("short", Value::Assertion(false)),
            outcome("tone", Value::Label("polite".to_owned())),
        ]
    };
    let again = |repeat, case| CaseReport { repeat, ..case };
    Report {
        repeat: 2,
        ..report(vec![
            finished("a", outcomes()),
            again(2, failed("a", "gone")),
            failed("b", "gone"),
            again(2, failed("b", "gone")),
        ])
    }
}

/// Text that begins a markdown block, or contains bidirectional controls.
fn deceptive() -> Report<Words> {
    let mut case = finished("[q1]", vec![score("- $RR$", 0.5)]);
    case.evaluator_failures.push(EvaluatorFailure {
        evaluator: "+ judge".to_owned(),
        origin: EvaluatorOrigin::Dataset(1),
        kind: FailureKind::Error,
        class: None,
        message: "\u{202e}evil\u{2069}".to_owned(),
    });
    Report {
        dataset: "1. dataset".to_owned(),
        observer_failures: vec!["disk full".to_owned()],
        ..report(vec![
            case,
            failed("[q2]", "timeout"),
            failed("- q3", "timeout"),
        ])
    }
}

fn profiles() -> [Summary; 3] {
    let mut semantic = retrieval();
    for case in &mut semantic.cases {
        case.outcomes.retain(|outcome| outcome.name != "nDCG@10");
        for outcome in &mut case.outcomes {
            if let Value::Score(score) = &mut outcome.value {
                *score *= 0.9;
            }
        }
    }
    [
        summary(&retrieval()),
        summary(&semantic),
        summary(&report(vec![])),
    ]
}

fn compared() -> Comparison {
    let [bm25, semantic, empty] = &profiles();
    Comparison::new(&[("bm25", bm25), ("semantic", semantic), ("empty|run", empty)])
}

#[test]
fn a_writer_that_fails_is_an_error_everywhere() {
    struct Full;
    impl std::io::Write for Full {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::Error::from(std::io::ErrorKind::StorageFull))
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let report = retrieval();
    let summary = summary(&report);
    let results = [
        Console::default().report(Full, &report, &summary),
        Console::default().comparison(Full, &compared()),
        render::markdown::report(Full, &report, &summary),
        render::json::report(Full, &report, &summary),
        render::jsonl::report(Full, &report),
        render::csv::report(Full, &report),
    ];
    for (position, result) in results.into_iter().enumerate() {
        let error = result.expect_err(&position.to_string());
        assert_eq!(error.kind(), std::io::ErrorKind::StorageFull, "{position}");
    }
}
