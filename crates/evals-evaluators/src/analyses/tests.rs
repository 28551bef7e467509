//! Tests against the analyses of pydantic-evals.

use std::collections::BTreeMap;
use std::sync::Arc;

use evals::{Analysis, Report, ReportEvaluator, SpecArguments};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::{Built, Registry, RegistryError, Resources, Untyped};

/// Made by `tests/golden/make_reports.py`.
const GOLDEN: &str = include_str!("../../tests/golden/analyses.json");

#[derive(Deserialize)]
struct Golden {
    golden: Vec<Set>,
}

#[derive(Deserialize)]
struct Set {
    title: String,
    cases: Vec<Brief>,
    runs: Vec<Run>,
}

/// The parts of a case that evaluators of reports read.
#[derive(Deserialize)]
#[serde(default)]
struct Brief {
    output: Value,
    expected_output: Option<Value>,
    metadata: Value,
    scores: BTreeMap<String, f64>,
    labels: BTreeMap<String, String>,
    assertions: BTreeMap<String, bool>,
    metrics: BTreeMap<String, f64>,
}

impl Default for Brief {
    fn default() -> Self {
        Self {
            output: json!("x"),
            expected_output: None,
            metadata: Value::Null,
            scores: BTreeMap::new(),
            labels: BTreeMap::new(),
            assertions: BTreeMap::new(),
            metrics: BTreeMap::new(),
        }
    }
}

#[derive(Deserialize)]
struct Run {
    evaluator: String,
    arguments: Map<String, Value>,
    analyses: Vec<Value>,
}

/// A report of cases in brief, made from JSON because reports gain fields.
fn report(cases: Vec<Brief>) -> Report<Untyped> {
    let cases = cases.into_iter().zip(1_u32..).map(|(case, number)| {
        let scores = case.scores.into_iter();
        let scores = scores.map(|(name, score)| (name, json!({"score": score})));
        let labels = case.labels.into_iter();
        let labels = labels.map(|(name, label)| (name, json!({"label": label})));
        let assertions = case.assertions.into_iter();
        let assertions = assertions.map(|(name, passed)| (name, json!({"assertion": passed})));
        let outcomes = scores.chain(labels).chain(assertions);
        let outcomes: Vec<Value> = outcomes
            .map(|(name, value)| json!({"name": name, "evaluator": "Golden", "value": value}))
            .collect();
        json!({
            "id": format!("c{number}"),
            "repeat": 1,
            "input": null,
            "expected": case.expected_output,
            "metadata": case.metadata,
            "result": {"output": case.output},
            "outcomes": outcomes,
            "evaluator_failures": [],
            "seconds": 0.0,
            "timings": [],
            "metrics": case.metrics,
            "attributes": {},
        })
    });
    let cases: Vec<Value> = cases.collect();
    let report = json!({
        "schema_version": 1,
        "name": "golden",
        "dataset": "golden",
        "repeat": 1,
        "interrupted": false,
        "not_run": 0,
        "seconds": 0.0,
        "metadata": {},
        "cases": cases,
    });
    serde_json::from_value(report).unwrap()
}

fn build(
    name: &str,
    arguments: Map<String, Value>,
) -> Result<Arc<dyn ReportEvaluator<Untyped>>, RegistryError> {
    let spec = evals::EvaluatorSpec {
        name: name.to_owned(),
        arguments: SpecArguments::Named(arguments),
    };
    match Registry::built_in().build(&spec, &Resources::default())? {
        Built::Report(evaluator) => Ok(evaluator),
        Built::Case(_) => panic!("`{name}` judges cases"),
    }
}

/// Whether both are equal, numbers to 1e-12.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let (one, other) = (one.as_f64().unwrap(), other.as_f64().unwrap());
            (one - other).abs() <= 1e-12 * other.abs().max(1.0)
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| equal(value, other)))
        }
        (one, other) => one == other,
    }
}

#[tokio::test]
async fn analyses_equal_those_of_pydantic_evals() {
    let Golden { golden } = serde_json::from_str(GOLDEN).unwrap();
    let (mut compared, mut without_positive) = (0, 0);
    for set in golden {
        let report = report(set.cases);
        for run in set.runs {
            let place = format!("{}: {} {:?}", set.title, run.evaluator, run.arguments);
            let evaluator = build(&run.evaluator, run.arguments).unwrap();
            let analyses = evaluator.evaluate(&report).await.unwrap();
            assert_eq!(analyses.len(), run.analyses.len(), "{place}");
            for (analysis, golden) in analyses.into_iter().zip(run.analyses) {
                let mut analysis = serde_json::to_value(analysis).unwrap();
                let description = analysis["description"].take();
                // Theirs counts recall as 0 where no case is positive. Ours has no recall then.
                if run.evaluator == "PrecisionRecallEvaluator"
                    && description == "undefined: no case is positive"
                {
                    let recalls = golden["curves"][0]["points"].as_array();
                    let mut recalls = recalls.into_iter().flatten().map(|point| &point["recall"]);
                    assert!(recalls.all(|recall| *recall == 0.0), "{place}");
                    let nothing = analysis.get("value").or(analysis.get("curves"));
                    assert!(
                        [json!(null), json!([])].contains(nothing.unwrap()),
                        "{place}"
                    );
                    without_positive += 1;
                    continue;
                }
                // Where theirs is NaN, ours says why.
                if golden.get("value") == Some(&Value::Null) {
                    assert!(
                        description.as_str().unwrap().starts_with("undefined: "),
                        "{place}"
                    );
                }
                assert!(equal(&analysis, &golden), "{place}\n{analysis}\n{golden}");
                compared += 1;
            }
        }
    }
    assert!(compared > 200, "{compared}");
    assert!(without_positive > 0);
}

async fn descriptions(cases: Value, name: &str) -> Vec<Option<String>> {
    let arguments = match name {
        "ConfusionMatrixEvaluator" => json!({}),
        _ => json!({"score_key": "s", "positive_from": "assertions", "positive_key": "ok"}),
    };
    let evaluator = build(name, arguments.as_object().unwrap().clone()).unwrap();
    let report = report(serde_json::from_value(cases).unwrap());
    let analyses = evaluator.evaluate(&report).await.unwrap();
    let description = |analysis| match analysis {
        Analysis::ConfusionMatrix { description, .. }
        | Analysis::PrecisionRecall { description, .. }
        | Analysis::Scalar { description, .. }
        | Analysis::Table { description, .. }
        | Analysis::LinePlot { description, .. } => description,
    };
    analyses.into_iter().map(description).collect()
}

#[tokio::test]
async fn descriptions_say_what_was_left_out() {
    let case = |score: f64, ok: bool| json!({"scores": {"s": score}, "assertions": {"ok": ok}, "expected_output": "x"});
    let (positive, negative) = (case(0.5, true), case(0.2, false));
    let lacking = json!({"assertions": {"ok": true}});
    let both = |text: &str| vec![Some(text.to_owned()); 2];
    let roc = |cases| descriptions(cases, "ROCAUCEvaluator");
    assert_eq!(roc(json!([positive, negative])).await, [None, None]);
    assert_eq!(
        roc(json!([positive, lacking, negative])).await,
        both("2 of 3 cases; the others failed or lack `s` or a class")
    );
    assert_eq!(
        roc(json!([positive])).await,
        both("undefined: no case is negative")
    );
    assert_eq!(
        roc(json!([negative])).await,
        both("undefined: no case is positive")
    );
    assert_eq!(
        roc(json!([lacking])).await,
        both("undefined: no case has both `s` and a class")
    );
    assert_eq!(
        descriptions(json!([negative]), "PrecisionRecallEvaluator").await,
        both("undefined: no case is positive")
    );
    assert_eq!(
        descriptions(json!([positive, lacking]), "ConfusionMatrixEvaluator").await,
        [Some(
            "1 of 2 cases; the others failed or lack a class".to_owned()
        )]
    );
}

#[test]
fn arguments_are_checked_before_the_run() {
    let refused = |name: &str, arguments: Value| {
        let error = build(name, arguments.as_object().unwrap().clone());
        error.unwrap_err().to_string()
    };
    for (name, arguments, message) in [
        (
            "ROCAUCEvaluator",
            json!({"score_key": "s", "positive_from": "labels"}),
            "`ROCAUCEvaluator`: `positive_key` is required if `positive_from` is `assertions` or `labels`",
        ),
        (
            "PrecisionRecallEvaluator",
            json!({"score_key": "s", "positive_from": "scores"}),
            "`PrecisionRecallEvaluator`: `positive_from`: unknown value `scores`, expected one of `expected_output`, `assertions`, `labels`",
        ),
        (
            "KolmogorovSmirnovEvaluator",
            json!({"score_key": "s", "positive_from": "expected_output", "n_thresholds": 2.5}),
            "`KolmogorovSmirnovEvaluator`: `n_thresholds`: expected a whole number, found `2.5`",
        ),
        (
            "ConfusionMatrixEvaluator",
            json!({"predicted_from": "labels"}),
            "`ConfusionMatrixEvaluator`: `predicted_key` must name a label, because `predicted_from` is `labels`",
        ),
        (
            "ROCAUCEvaluator",
            json!({}),
            "`ROCAUCEvaluator` needs the arguments `score_key`, `positive_from`",
        ),
    ] {
        assert_eq!(refused(name, arguments), message);
    }
}

#[test]
fn specifications_leave_defaults_out() {
    let arguments =
        json!({"score_key": "s", "positive_from": "expected_output", "n_thresholds": 100});
    let evaluator = build("ROCAUCEvaluator", arguments.as_object().unwrap().clone()).unwrap();
    let spec = evaluator.spec().unwrap();
    assert_eq!(
        serde_json::to_value(spec).unwrap(),
        json!({"name": "ROCAUCEvaluator", "arguments": {"score_key": "s", "positive_from": "expected_output"}})
    );
}
