//! The evaluators of a dataset file that pydantic-evals ran, judged again.
//!
//! `tests/golden/report.json` is the report that pydantic-evals 2.62.0 wrote. Each result in it names its evaluator as a dataset
//! file does.

use std::time::Duration;

use evals::{Case, Context, EvaluatorSpec};
use evals_evaluators::{Built, Untyped};
use futures::executor::block_on;
use serde_json::{Value, json};

use super::as_json;
use crate::registered::build;

const REPORT: &str = include_str!("../../golden/report.json");

/// The result that an evaluator gives for its case, judged again.
fn again(case: &Value, source: &Value) -> Value {
    let spec: EvaluatorSpec = serde_json::from_value(source.clone()).unwrap();
    let Ok(Built::Case(evaluator)) = build(&spec.name, spec.arguments.clone()) else {
        panic!("{spec:?} is not built");
    };
    assert_eq!(evaluator.spec(), Some(spec));
    let judged = Case::<Untyped>::new("case", case["inputs"].clone())
        .expecting(case["expected_output"].clone());
    let context = Context {
        duration: Duration::from_secs_f64(case["task_duration"].as_f64().unwrap()),
        ..Context::new(&judged, &case["output"])
    };
    let outcomes = block_on(evaluator.evaluate(&context)).unwrap();
    let [outcome] = outcomes.as_slice() else {
        panic!("{source} has {} outcomes", outcomes.len());
    };
    as_json(outcome)
}

#[test]
fn results_of_a_dataset_file_equal_those_of_pydantic_evals() {
    let report: Value = serde_json::from_str(REPORT).unwrap();
    // The others are evaluators of the program that ran, or ask a model.
    let asks_nobody = [
        "Equals",
        "EqualsExpected",
        "Contains",
        "IsInstance",
        "MaxDuration",
    ];
    let mut compared = 0;
    for case in report["cases"].as_array().unwrap() {
        for result in case["assertions"].as_object().unwrap().values() {
            let source = &result["source"];
            if !asks_nobody.iter().any(|name| source["name"] == *name) {
                continue;
            }
            let theirs = json!({
                "name": result["name"],
                "value": result["value"],
                "reason": result["reason"],
            });
            assert_eq!(again(case, source), theirs, "{}: {source}", case["name"]);
            compared += 1;
        }
    }
    assert_eq!(compared, 11);
}
