//! The table of cases.

use evals::render::{Cases, Console, Part, Symbols};
use std::collections::BTreeMap;
use std::time::Duration;

use evals::{
    CaseReport, Direction, EvaluatorFailure, EvaluatorOrigin, Evidence, FailureKind, Report, Value,
    Vote,
};
use evals::{Span, SpanTree};

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

fn page(console: Console, report: &Report<Words>, shown: &Cases) -> String {
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
        parts: vec![Part::Output],
    };
    let page = page(plain(120), &mixed(), &all);
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
        parts: vec![Part::Output],
    };
    let console = Console {
        symbols: Symbols::Ascii,
        ..plain(60)
    };
    insta::assert_snapshot!("cases_with_reasons", page(console, &mixed(), &worst));
}

#[test]
fn no_cases_are_no_table() {
    let none = Cases {
        most: 0,
        reasons: true,
        parts: vec![Part::Output],
    };
    assert_eq!(page(plain(80), &mixed(), &none), "");
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
        parts: vec![Part::Output],
    };
    let page = page(plain(80), &report, &all);
    let place = |label: &str| page.find(label).unwrap();
    assert!(place("a [2/2]") < place("a [1/2]"), "{page}");
}

#[test]
fn a_failed_assertion_without_a_reason_shows_what_was_compared_and_own_evaluators_come_last() {
    let own = evals::CaseOutcome {
        origin: EvaluatorOrigin::Case(1),
        ..outcome("own", Value::Assertion(false))
    };
    let case = CaseReport {
        expected: Some("Paris".to_owned()),
        ..finished(
            "a",
            vec![
                own,
                outcome("equal", Value::Assertion(true)),
                outcome("EqualsExpected", Value::Assertion(false)),
            ],
        )
    };
    let shown = Cases {
        most: 5,
        reasons: true,
        parts: vec![Part::Expected, Part::Input],
    };
    let page = page(plain(100), &report(vec![case]), &shown);
    let lines: Vec<&str> = page.lines().skip(1).collect();
    assert_eq!(
        lines,
        [
            "Case  Input       Expected  Assertions    Time",
            "──────────────────────────────────────────────",
            "a     input of a  Paris     ✔✗✗         2.0 ms",
            "",
            "a",
            "EqualsExpected ✗: expected Paris, output output of a",
            "own ✗: output output of a",
        ]
    );
}

#[test]
fn values_whose_texts_are_alike_are_compared_as_json() {
    let case = CaseReport {
        expected: Some("output of a".to_owned()),
        ..finished(
            "a",
            vec![outcome("EqualsExpected", Value::Assertion(false))],
        )
    };
    let shown = Cases {
        most: 1,
        reasons: true,
        parts: Vec::new(),
    };
    let page = page(plain(100), &report(vec![case]), &shown);
    let reason = "EqualsExpected ✗: expected \"output of a\", output \"output of a\"";
    assert!(page.contains(reason), "{page}");
}

#[test]
fn a_case_in_detail_lists_what_the_task_recorded() {
    let lookup = Span {
        duration: Duration::from_millis(200),
        ..Span::new("lookup")
    };
    let search = Span {
        children: vec![lookup],
        ..Span::tool_call("search", &serde_json::Value::Null, true)
    };
    let case = CaseReport {
        metrics: BTreeMap::from([("tokens".to_owned(), 12.0)]),
        attributes: BTreeMap::from([("route".to_owned(), "fast".into())]),
        spans: Some(SpanTree {
            roots: vec![Span::new("plan"), search],
        }),
        ..finished("a", vec![])
    };
    let page = written(|out| plain(120).case_details(out, &report(vec![case]), |_| true));
    let lines: Vec<&str> = page.lines().skip(3).collect();
    assert_eq!(
        lines,
        [
            "  metrics: tokens 12.0000",
            "  attribute route: fast",
            "  steps:",
            "    1 plan",
            r#"    2 execute_tool search · failed · {"gen_ai.operation.name":"execute_tool","gen_ai.tool.name":"search"}"#,
            "    2.1 lookup · 200 ms",
        ]
    );
}

#[test]
fn a_case_in_detail_shows_the_evidence_of_an_outcome_and_its_votes() {
    let vote = |judge: &str, repeat, verdict: &str, reason: Option<&str>| Vote {
        judge: judge.to_owned(),
        repeat,
        verdict: verdict.to_owned(),
        holds: verdict == "supported",
        reason: reason.map(str::to_owned),
    };
    let supported = Evidence {
        text: "It has\ntwo lines.".to_owned(),
        verdict: "supported".to_owned(),
        holds: true,
        reason: Some("it says so".to_owned()),
        source: Some("passage 2".to_owned()),
        votes: Vec::new(),
    };
    let voted = Evidence {
        text: "It is red.".to_owned(),
        verdict: "not found".to_owned(),
        votes: vec![
            vote("one", 1, "not found", None),
            vote("two", 2, "supported", Some("it is red")),
        ],
        ..Evidence::default()
    };
    let faithfulness = evals::CaseOutcome {
        evidence: vec![supported, voted],
        ..with_reason("faithfulness", Value::Score(0.5), "1 of 2 claims")
    };
    let case = finished("a", vec![faithfulness]);
    let page = written(|out| plain(120).case_details(out, &report(vec![case]), |_| true));
    let lines: Vec<&str> = page.lines().skip(3).collect();
    assert_eq!(
        lines,
        [
            "  faithfulness: 0.5000: 1 of 2 claims",
            "    + It has two lines. (passage 2): supported; it says so",
            "    - It is red.: not found",
            "    by one: not found",
            "    by two #2: supported; it is red",
        ]
    );
}
