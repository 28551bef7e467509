//! The table of cases.

use evals::render::{Cases, Console, Symbols};
use evals::{CaseReport, Direction, EvaluatorFailure, EvaluatorOrigin, FailureKind, Report, Value};

use super::{plain, written};
use crate::fakes::{Words, failed, finished, outcome, report, score, undefined};

fn with_reason(name: &str, value: Value, reason: &str) -> evals::CaseOutcome {
    evals::CaseOutcome {
        reason: Some(reason.to_owned()),
        ..outcome(name, value)
    }
}

fn mixed() -> Report<Words> {
    let passed = |holds| outcome("polite", Value::Assertion(holds));
    let mut unjudged = finished("unjudged", vec![passed(true), score("F1", 1.0)]);
    unjudged.evaluator_failures.push(EvaluatorFailure {
        evaluator: "judge".to_owned(),
        origin: EvaluatorOrigin::Dataset(1),
        kind: FailureKind::Error,
        class: None,
        message: "no verdict".to_owned(),
    });
    let mut slow = score("lateness", 9.0);
    slow.better = Direction::Lower;
    report(vec![
        finished("good", vec![passed(true), score("F1", 0.9)]),
        finished(
            "low",
            vec![
                passed(true),
                score("F1", 0.2),
                outcome("tone", Value::Label("dry\nish".to_owned())),
            ],
        ),
        finished(
            "rude",
            vec![
                with_reason("polite", Value::Assertion(false), "it swears"),
                score("F1", 0.95),
                undefined("recall", "nothing is relevant"),
            ],
        ),
        unjudged,
        failed("gone", "connection refused"),
        finished("late", vec![passed(true), slow]),
    ])
}

fn page(console: Console, report: &Report<Words>, shown: Cases) -> String {
    written(|out| console.cases(out, report, shown))
}

fn order(page: &str) -> Vec<&str> {
    let rows = page.lines().skip(3);
    rows.filter_map(|row| row.split_whitespace().next())
        .collect()
}

#[test]
fn failed_cases_come_first_then_the_lowest() {
    let all = Cases {
        most: 20,
        reasons: false,
    };
    let page = page(plain(120), &mixed(), all);
    assert_eq!(
        order(&page),
        ["gone", "unjudged", "rude", "late", "low", "good"]
    );
    insta::assert_snapshot!("cases", page);
}

#[test]
fn fewer_cases_are_counted_and_reasons_follow() {
    let worst = Cases {
        most: 3,
        reasons: true,
    };
    let console = Console {
        symbols: Symbols::Ascii,
        ..plain(60)
    };
    insta::assert_snapshot!("cases_with_reasons", page(console, &mixed(), worst));
}

#[test]
fn no_cases_are_no_table() {
    let none = Cases {
        most: 0,
        reasons: true,
    };
    assert_eq!(page(plain(80), &mixed(), none), "");
}

#[test]
fn repetitions_are_told_apart() {
    let second = CaseReport {
        repeat: 2,
        ..finished("a", vec![score("F1", 0.5)])
    };
    let report = Report {
        repeat: 2,
        ..report(vec![finished("a", vec![score("F1", 0.7)]), second])
    };
    let all = Cases {
        most: 5,
        reasons: false,
    };
    let page = page(plain(80), &report, all);
    let place = |label: &str| page.find(label).unwrap();
    assert!(place("a [2/2]") < place("a [1/2]"), "{page}");
}
