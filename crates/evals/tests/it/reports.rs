//! The JSON shape of a report.

use std::collections::BTreeMap;
use std::time::Duration;

use evals::{
    CaseOutcome, EvaluatorFailure, FailureKind, Report, TaskResult, Timing, Value, render,
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
    first.evaluator_failures = vec![EvaluatorFailure {
        evaluator: "judge".to_owned(),
        kind: FailureKind::Panic,
        message: "out of range".to_owned(),
    }];
    Report {
        interrupted: true,
        not_run: 3,
        metadata: json!({"seed": 7}).as_object().unwrap().clone(),
        ..report(vec![first, failed("q2", "connection refused")])
    }
}

/// Every change of this shape is a change for whoever reads it.
#[test]
fn the_shape_is_as_documented() {
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
            name,
            evaluator,
            value,
            reason,
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
