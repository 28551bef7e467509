//! The JSON schema of a report.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use evals::{
    Case, CaseOutcome, Dataset, Direction, Domain, EvaluatorFailure, EvaluatorIdentity,
    EvaluatorOrigin, Experiment, FailureKind, Report, TaskResult, TaskScope, Timing, Value, render,
};
use evals_metrics::Bootstrap;
use proptest::prelude::*;
use serde_json::json;

use crate::fakes::{Words, failed, finished, report, score, timing, undefined};

fn one_of_everything() -> Report<Words> {
    let mut first = finished(
        "q1",
        vec![
            score("RR@5", 0.5),
            undefined("R@5", "no relevant documents"),
        ],
    );
    first.expected = Some("expected".to_owned());
    first.timings = vec![timing("embed", 1_600, false), timing("search", 250, true)];
    first.metrics = BTreeMap::from([("tokens".to_owned(), 12.0)]);
    first.attributes = BTreeMap::from([("model".to_owned(), json!({"name": "m1"}))]);
    first.own_evaluators = vec![EvaluatorIdentity::named("judge")];
    first.evaluator_failures = vec![EvaluatorFailure {
        evaluator: "judge".to_owned(),
        origin: EvaluatorOrigin::Case(1),
        kind: FailureKind::Panic,
        class: None,
        message: "out of range".to_owned(),
    }];
    Report {
        interrupted: true,
        not_run: 3,
        observer_failures: vec!["disk full".to_owned()],
        metadata: json!({"seed": 7}).as_object().unwrap().clone(),
        ..report(vec![first, failed("q2", "connection refused")])
    }
}

/// Every change of this schema affects its readers.
#[test]
fn the_json_schema_is_as_documented() {
    insta::assert_json_snapshot!(one_of_everything());
}

#[test]
fn the_rendered_document_reads_back() {
    let report = one_of_everything();
    let mut document = Vec::new();
    render::json::report(
        &mut document,
        &report,
        &report.summary(&Bootstrap::default()),
    )
    .unwrap();
    let back: Report<Words> = serde_json::from_slice(&document).unwrap();
    assert_eq!(
        serde_json::to_value(&back).unwrap(),
        serde_json::to_value(&report).unwrap()
    );
}

#[test]
fn another_schema_version_is_refused() {
    let mut document = serde_json::to_value(one_of_everything()).unwrap();
    document["schema_version"] = json!(2);
    let error = serde_json::from_value::<Report<Words>>(document).unwrap_err();
    assert_eq!(
        error.to_string(),
        "report has schema version 2, but this build reads version 1"
    );
}

#[test]
fn a_negative_duration_is_refused() {
    let mut document = serde_json::to_value(one_of_everything()).unwrap();
    document["seconds"] = json!(-1.0);
    assert!(serde_json::from_value::<Report<Words>>(document).is_err());
}

#[test]
fn reports_without_the_later_fields_are_read() {
    let mut document = serde_json::to_value(one_of_everything()).unwrap();
    let mut strip = |pointer: &str, field: &str| {
        let object = document.pointer_mut(pointer).unwrap();
        object.as_object_mut().unwrap().remove(field).unwrap();
    };
    strip("", "observer_failures");
    strip("/cases/0", "own_evaluators");
    strip("/cases/0/outcomes/0", "origin");
    strip("/cases/0/evaluator_failures/0", "origin");
    let report: Report<Words> = serde_json::from_value(document).unwrap();
    assert_eq!(
        report.cases[0].outcomes[0].origin,
        EvaluatorOrigin::default()
    );
}

#[test]
fn a_number_that_is_not_finite_is_not_written() {
    let message = |case| {
        serde_json::to_string(&report(vec![case]))
            .unwrap_err()
            .to_string()
    };
    let judged = finished("a", vec![score("s", f64::NAN)]);
    assert_eq!(message(judged), "NaN is not a finite number");
    let mut measured = finished("a", vec![]);
    measured.metrics.insert("cost".to_owned(), f64::INFINITY);
    assert_eq!(message(measured), "`cost` is not a finite number: inf");
}

#[derive(Clone, Copy, Debug)]
struct Json;

impl Domain for Json {
    type Input = serde_json::Value;
    type Output = serde_json::Value;
    type Expected = serde_json::Value;
    type Metadata = ();
}

#[tokio::test]
async fn an_expected_null_counts_as_none_before_and_after_reading_back() {
    let mut literal = Case::<Json>::new("literal", json!(1));
    literal.expected = Some(json!(null));
    let cases = [
        Case::new("null", json!(1)).expecting(json!(null)),
        Case::new("text", json!(1)).expecting(json!("null")),
        Case::new("list", json!(1)).expecting(json!([null])),
        literal,
    ];
    let dataset = Dataset::new("json", cases).unwrap();
    let expected = [None, Some(json!("null")), Some(json!([null])), None];
    let held: Vec<_> = dataset
        .cases()
        .iter()
        .map(|case| case.expected.clone())
        .collect();
    assert_eq!(held, expected);

    let task = |case: Arc<Case<Json>>, _: TaskScope| async move { Ok(case.input.clone()) };
    let report = Experiment::new(dataset, task).run().await;
    let text = serde_json::to_string(&report).unwrap();
    let back: Report<Json> = serde_json::from_str(&text).unwrap();
    let back: Vec<_> = back.cases.into_iter().map(|case| case.expected).collect();
    assert_eq!(back, expected);
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<bool>().prop_map(Value::Assertion),
        any::<f64>()
            .prop_filter("scores are finite", |score| score.is_finite())
            .prop_map(Value::Score),
        any::<String>().prop_map(Value::Label),
        Just(Value::Undefined),
    ]
}

fn outcome() -> impl Strategy<Value = CaseOutcome> {
    (
        any::<String>(),
        any::<String>(),
        value(),
        any::<Option<String>>(),
    )
        .prop_map(|(name, evaluator, value, reason)| CaseOutcome {
            name: name.clone(),
            given_name: Some(name),
            evaluator,
            origin: EvaluatorOrigin::Dataset(2),
            better: Direction::Lower,
            value,
            reason,
            evidence: Vec::new(),
        })
}

proptest! {
    #[test]
    fn outcomes_text_and_durations_read_back_exactly(
        outcomes in prop::collection::vec(outcome(), 0..6),
        output in any::<String>(),
        // 90 days, in nanoseconds.
        nanos in 0_u64..7_776_000_000_000_000,
    ) {
        let mut case = finished("q", outcomes.clone());
        case.result = TaskResult::Output(output.clone());
        case.duration = Duration::from_nanos(nanos);
        case.timings = vec![Timing { stage: output.clone(), duration: case.duration, cached: true }];
        let text = serde_json::to_string(&report(vec![case])).unwrap();
        let back: Report<Words> = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(&back.cases[0].outcomes, &outcomes);
        prop_assert_eq!(back.cases[0].result.output(), Some(&output));
        prop_assert_eq!(back.cases[0].duration, Duration::from_nanos(nanos));
        prop_assert_eq!(back.cases[0].timings[0].duration, Duration::from_nanos(nanos));
    }
}
