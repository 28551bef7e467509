//! Tests against reports that pydantic-evals wrote.

mod averages;

use std::num::NonZeroU32;

use async_trait::async_trait;
use evals::{
    Analysis, Case, Context, Dataset, Evaluator, EvaluatorError, EvaluatorSpec, Experiment,
    Outcome, Report, ReportEvaluator, SpecArguments, TaskError,
};
use evals_rag::Purpose;
use serde_json::{Map, Value, json};

use super::EvaluationReport;
use crate::{Built, Registry, Resources, Untyped};

/// Made by `tests/golden/make_reports.py`.
const AVERAGES: &str = include_str!("../../../tests/golden/averages.json");

/// Written by pydantic-evals 2.62.0 (`EvaluationReportAdapter.dump_json`) for a dataset of three cases; stack traces are removed.
const REPORT: &str = include_str!("../../../tests/golden/report.json");

/// The means of that report as pydantic-evals prints them: two cases, 9 of 13 assertions.
#[test]
fn a_report_of_pydantic_evals_reads_and_writes_back_equal() {
    let report: EvaluationReport = serde_json::from_str(REPORT).unwrap();
    let written: Value = serde_json::to_value(&report).unwrap();
    let original: Value = serde_json::from_str(REPORT).unwrap();
    assert_eq!(written, original);
    let averages = report.averages().unwrap();
    assert_eq!(averages.assertions, Some(9.0 / 13.0));
    assert_eq!(averages.scores.get("n"), Some(&3.0));
    assert_eq!(averages.labels.get("lab").unwrap().get("x"), Some(&1.0));
}

fn close(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            (one.as_f64().unwrap() - other.as_f64().unwrap()).abs() <= 1e-12
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .all(|(key, value)| other.get(key).is_some_and(|other| close(value, other)))
        }
        (one, other) => one == other,
    }
}

#[test]
fn averages_are_those_of_pydantic_evals() {
    let golden: Value = serde_json::from_str(AVERAGES).unwrap();
    let golden = golden["golden"].as_array().unwrap();
    assert!(golden.len() > 5);
    for (number, case) in golden.iter().enumerate() {
        let report: EvaluationReport = serde_json::from_value(case["report"].clone()).unwrap();
        assert_eq!(serde_json::to_value(&report).unwrap(), case["report"]);
        let averages = serde_json::to_value(report.averages()).unwrap();
        let mut expected = case["averages"].clone();
        if let Some(expected) = expected.as_object_mut() {
            expected.remove("name");
        }
        assert!(
            close(&averages, &expected),
            "{number}: {averages}\n{expected}"
        );
    }
}

/// Several outcomes, some with the name of another evaluator's.
#[derive(Debug)]
struct Multi;

#[async_trait]
impl Evaluator<Untyped> for Multi {
    fn name(&self) -> &'static str {
        "Multi"
    }

    async fn evaluate(
        &self,
        context: &Context<'_, Untyped>,
    ) -> Result<Vec<Outcome>, EvaluatorError> {
        if context.case.id.as_str() == "b" {
            return Err(EvaluatorError::new("boom"));
        }
        Ok(vec![
            Outcome::score("EqualsExpected", 0.5).because("half"),
            Outcome::label("EqualsExpected", "x"),
            Outcome::undefined("nothing", "no reason"),
            Outcome::score("infinite", f64::INFINITY),
        ])
    }

    fn version(&self) -> Option<&str> {
        Some("v2")
    }
}

#[derive(Debug)]
struct Undefined;

#[async_trait]
impl ReportEvaluator<Untyped> for Undefined {
    fn name(&self) -> &'static str {
        "Undefined"
    }

    async fn evaluate(&self, _report: &Report<Untyped>) -> Result<Vec<Analysis>, EvaluatorError> {
        Ok(vec![Analysis::Scalar {
            title: "AUC".to_owned(),
            description: Some("undefined: no case".to_owned()),
            value: None,
            unit: None,
        }])
    }
}

fn built(name: &str, arguments: SpecArguments) -> std::sync::Arc<dyn Evaluator<Untyped>> {
    let spec = EvaluatorSpec {
        name: name.to_owned(),
        arguments,
    };
    match Registry::built_in()
        .build(&spec, &Resources::default())
        .unwrap()
    {
        Built::Case(evaluator) => evaluator,
        Built::Report(_) => panic!("`{name}` judges reports"),
    }
}

async fn run(repeat: u32) -> EvaluationReport {
    let mut first = Case::new("a", json!({"q": 1})).expecting(json!("A"));
    first.metadata = json!({"k": 1});
    first.evaluators = vec![built("Contains", SpecArguments::Positional([json!("A")]))];
    let cases = [
        first,
        Case::new("b", json!("b")),
        Case::new("fails", json!("c")),
    ];
    let evaluators = [
        built("EqualsExpected", SpecArguments::None),
        std::sync::Arc::new(Multi),
        built(
            "Contains",
            SpecArguments::Named(Map::from_iter([
                ("value".to_owned(), json!("a")),
                ("case_sensitive".to_owned(), json!(false)),
            ])),
        ),
    ];
    let dataset = Dataset::new("demo", cases)
        .unwrap()
        .with_evaluators(evaluators)
        .report_evaluator(Undefined);
    let experiment = Experiment::new(dataset, |case, scope| async move {
        scope.metric("tok", 5.0);
        scope.metric("share", 0.5);
        scope.attribute("att", json!([1]));
        // The tokens of judges are none of the task's.
        scope.metric(Purpose::Judge.input_tokens(), 7.0);
        scope.attribute(Purpose::Judge.estimated(), true);
        if case.id.as_str() == "fails" {
            return Err(TaskError::new("bad task"));
        }
        Ok(json!("A"))
    });
    let experiment = experiment.name("task").metadata("model", "m1");
    let report = experiment
        .repeat(NonZeroU32::new(repeat).unwrap())
        .run()
        .await;
    let mut report = EvaluationReport::from(&report);
    for case in &mut report.cases {
        assert!(case.task_duration < 60.0);
        (case.task_duration, case.total_duration) = (0.25, 0.25);
    }
    report
}

#[tokio::test]
async fn a_report_of_ours_is_written_in_their_model() {
    let report = run(1).await;
    let written = serde_json::to_value(&report).unwrap();
    let read: EvaluationReport = serde_json::from_value(written.clone()).unwrap();
    assert_eq!(read, report);

    let contains = |arguments: Value, name: &str, value: bool, reason: Value| {
        json!({"name": name, "value": value, "reason": reason,
            "source": {"name": name, "arguments": arguments}, "evaluator_version": null})
    };
    let multi = json!({"name": "Multi", "arguments": null});
    assert_eq!(
        written["cases"][0],
        json!({
            "name": "a",
            "inputs": {"q": 1},
            "metadata": {"k": 1},
            "expected_output": "A",
            "output": "A",
            "metrics": {"tok": 5, "share": 0.5},
            "attributes": {"att": [1]},
            "scores": {
                "EqualsExpected_2": {"name": "EqualsExpected", "value": 0.5, "reason": "half", "source": multi, "evaluator_version": "v2"},
            },
            "labels": {
                "EqualsExpected_2_2": {"name": "EqualsExpected_2", "value": "x", "reason": null, "source": multi, "evaluator_version": "v2"},
            },
            "assertions": {
                "Contains": contains(json!(["A"]), "Contains", true, Value::Null),
                "EqualsExpected": contains(Value::Null, "EqualsExpected", true, Value::Null),
                "Contains_2": contains(json!({"value": "a", "case_sensitive": false}), "Contains", true, Value::Null),
            },
            "task_duration": 0.25,
            "total_duration": 0.25,
            "source_case_name": null,
            "trace_id": null,
            "span_id": null,
            "evaluator_failures": [{
                "name": "Multi",
                "error_message": "score `infinite` is not finite: inf",
                "error_stacktrace": "",
                "source": multi,
                "evaluator_version": "v2",
                "error_type": "not-finite",
            }],
        })
    );
    // Only the first case adds an evaluator, so in the second case the dataset's evaluator keeps its name.
    assert!(report.cases[1].assertions.get("Contains").is_some());
    assert_eq!(report.cases[1].evaluator_failures[0].error_message, "boom");
    assert_eq!(
        written["failures"],
        json!([{
            "name": "fails", "inputs": "c", "metadata": null, "expected_output": null, "error_message": "bad task",
            "error_stacktrace": "", "source_case_name": null, "trace_id": null, "span_id": null,
        }])
    );
    assert_eq!(
        written["analyses"],
        json!([{"type": "table", "title": "AUC", "description": "undefined: no case", "columns": ["value"], "rows": [[null]]}])
    );
    assert_eq!(written["experiment_metadata"], json!({"model": "m1"}));
    assert_eq!(written["dataset_name"], "demo");
    keep(&report, "once");
}

#[tokio::test]
async fn repetitions_are_named_and_grouped() {
    let report = run(2).await;
    let names: Vec<&str> = report.cases.iter().map(|case| case.name.as_str()).collect();
    assert_eq!(names, ["a [1/2]", "a [2/2]", "b [1/2]", "b [2/2]"]);
    assert_eq!(report.failures[1].name, "fails [2/2]");
    assert_eq!(
        report.failures[1].source_case_name.as_deref(),
        Some("fails")
    );
    assert_eq!(report.cases[3].source_case_name.as_deref(), Some("b"));
    // 3 of 3 in each run of `a`, 1 of 1 in each run of `b`, and `fails` does not count.
    assert_eq!(report.averages().unwrap().assertions, Some(1.0));
    assert_eq!(
        report.averages().unwrap().scores.get("EqualsExpected_2"),
        Some(&0.5)
    );
    keep(&report, "repeated");
}

/// pydantic-evals writes NaN as `null`, and cannot read that itself.
#[test]
fn a_scalar_that_was_nan_reads_as_one_without_a_value() {
    let report = json!({"name": "x", "cases": [], "analyses": [{"type": "scalar", "title": "AUC", "value": null}]});
    let report: EvaluationReport = serde_json::from_value(report).unwrap();
    let [Analysis::Scalar { value, .. }] = report.analyses.as_slice() else {
        panic!("{:?}", report.analyses)
    };
    assert_eq!(*value, None);
}

#[test]
fn nothing_averages_to_nothing() {
    let report = json!({"name": "x", "cases": []});
    let report: EvaluationReport = serde_json::from_value(report).unwrap();
    assert_eq!(report.averages(), None);
}

#[test]
fn a_report_that_reads_writes_back_and_averages() {
    const CORPUS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz");
    let golden: Value = serde_json::from_str(AVERAGES).unwrap();
    let repeated = &golden["golden"][5]["report"];
    evals_fuzz::Target::new("pydantic-report", CORPUS)
        .seed(REPORT)
        .seed(repeated.to_string())
        .dictionary([
            "null",
            "[]",
            "{}",
            "1e308",
            "-0",
            "\"scores\":",
            "\"source_case_name\":\"x\"",
            "\"arguments\":[1]",
        ])
        .run(|input| {
            let Ok(report) = serde_json::from_slice::<EvaluationReport>(input) else {
                return;
            };
            let written = serde_json::to_vec(&report).unwrap();
            assert_eq!(
                serde_json::from_slice::<EvaluationReport>(&written).unwrap(),
                report
            );
            assert_eq!(report.averages().is_none(), report.cases.is_empty());
        });
}

/// Keeps a report for `make_reports.py`, which checks that pydantic-evals reads it, if a folder is given.
fn keep(report: &EvaluationReport, name: &str) {
    if let Some(folder) = std::env::var_os("EVALUATIONS_KEEP_REPORTS") {
        let path = std::path::Path::new(&folder).join(format!("{name}.json"));
        std::fs::write(path, serde_json::to_vec(report).unwrap()).unwrap();
    }
}
