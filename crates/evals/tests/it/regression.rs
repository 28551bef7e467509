//! Tests of which cases failed, and which got worse.

use evals::{CaseReport, Direction, Report, Value};

use crate::fakes::{Words, failed, finished, outcome, report, score, undefined};

fn ids<'r>(cases: impl IntoIterator<Item = &'r evals::CaseId>) -> Vec<&'r str> {
    cases.into_iter().map(evals::CaseId::as_str).collect()
}

fn right(id: &str, right: bool) -> CaseReport<Words> {
    finished(id, vec![outcome("right", Value::Assertion(right))])
}

#[test]
fn a_case_fails_by_its_task_by_an_evaluator_and_by_an_assertion() {
    let mut unjudged = right("unjudged", true);
    let failure = serde_json::json!({
        "evaluator": "judge", "kind": "error", "message": "no reply"
    });
    unjudged
        .evaluator_failures
        .push(serde_json::from_value(failure).unwrap());
    let report = report(vec![
        right("fine", true),
        failed("broken", "timeout"),
        unjudged,
        right("wrong", false),
        finished("undefined", vec![undefined("right", "no reference")]),
    ]);
    assert_eq!(ids(report.failed_cases()), ["broken", "unjudged", "wrong"]);
}

#[test]
fn one_failed_repetition_makes_a_case_fail() {
    let again = CaseReport {
        repeat: 2,
        ..right("a", false)
    };
    let mut report = report(vec![right("a", true), again, right("b", true)]);
    report.repeat = 2;
    assert_eq!(ids(report.failed_cases()), ["a"]);
}

#[test]
fn assertions_that_are_not_pooled_fail_a_case_only_by_the_first() {
    let case = |id: &str, equal: bool, cites: bool| {
        let outcomes = [("equal", equal), ("cites", cites)];
        let outcomes = outcomes.map(|(name, passed)| outcome(name, Value::Assertion(passed)));
        finished(id, outcomes.to_vec())
    };
    let mut report = report(vec![case("a", true, false), case("b", false, true)]);
    assert_eq!(ids(report.failed_cases()), ["a", "b"]);
    report.pools_assertions = false;
    assert_eq!(ids(report.failed_cases()), ["b"]);
}

#[test]
fn an_assertion_that_should_not_hold_fails_a_case_by_holding() {
    let mut leaks = outcome("leaks", Value::Assertion(true));
    leaks.better = Direction::Lower;
    let report = report(vec![finished("a", vec![leaks]), right("b", true)]);
    assert_eq!(ids(report.failed_cases()), ["a"]);
}

fn scored(values: &[(&str, f64)]) -> Report<Words> {
    let case = |(id, value): &(&str, f64)| {
        finished(id, vec![score("RR", *value), score("R", 1.0 - *value)])
    };
    report(values.iter().map(case).collect())
}

#[test]
fn worse_is_a_lower_value_of_the_first_measure_or_a_new_failure() {
    let before = scored(&[("a", 1.0), ("b", 0.5), ("c", 1.0), ("d", 0.0), ("e", 1.0)]);
    let mut after = scored(&[("a", 0.5), ("b", 1.0), ("d", 0.0)]);
    after.cases.push(failed("c", "timeout"));
    after
        .cases
        .push(failed("f", "a case that was not there before"));
    let mut edited = finished("e", vec![score("RR", 0.0)]);
    edited.input = "another question".to_owned();
    after.cases.push(edited);
    assert_eq!(ids(after.worse_than(&before).unwrap()), ["a", "c"]);
    assert_eq!(ids(before.worse_than(&after).unwrap()), ["b"]);
}

#[test]
fn reports_without_a_common_measure_have_no_worse_cases() {
    let before = report(vec![finished("a", vec![score("RR", 1.0)])]);
    let after = report(vec![finished("a", vec![score("nDCG", 0.0)])]);
    assert!(after.worse_than(&before).is_none());
}
