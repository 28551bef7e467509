//! Report evaluators: results of a whole run.

use async_trait::async_trait;
use evals::{
    Analysis, EvaluatorError, EvaluatorSpec, Experiment, FailureKind, Report, ReportEvaluator,
    SpecArguments, TaskError, render,
};
use evals_metrics::Bootstrap;
use serde_json::json;
use tokio_util::sync::CancellationToken;

use crate::fakes::{Words, echo, numbered, report};

/// Counts the finished cases.
#[derive(Debug)]
struct Count;

#[async_trait]
impl ReportEvaluator<Words> for Count {
    fn name(&self) -> &'static str {
        "Count"
    }

    async fn evaluate(&self, report: &Report<Words>) -> Result<Vec<Analysis>, EvaluatorError> {
        assert!(report.analyses.is_empty(), "nobody sees other analyses");
        Ok(vec![scalar("cases", report.cases.len())])
    }
}

fn scalar(title: &str, count: usize) -> Analysis {
    Analysis::Scalar {
        title: title.to_owned(),
        description: None,
        value: Some(f64::from(u32::try_from(count).unwrap())),
        unit: Some("cases".to_owned()),
    }
}

#[derive(Debug)]
enum Broken {
    Fails,
    Panics,
    Waits,
}

#[async_trait]
impl ReportEvaluator<Words> for Broken {
    fn name(&self) -> &'static str {
        "Broken"
    }

    fn spec(&self) -> Option<EvaluatorSpec> {
        Some(EvaluatorSpec {
            name: "Broken".to_owned(),
            arguments: SpecArguments::None,
        })
    }

    async fn evaluate(&self, _: &Report<Words>) -> Result<Vec<Analysis>, EvaluatorError> {
        match self {
            Self::Fails => Err(EvaluatorError::new("no scores")),
            Self::Panics => panic!("out of range"),
            Self::Waits => std::future::pending().await,
        }
    }
}

#[tokio::test]
async fn analyses_come_after_the_cases_and_failures_are_data() {
    let dataset = numbered(3)
        .report_evaluator(Broken::Fails)
        .report_evaluator(Count)
        .report_evaluator(Broken::Panics)
        .report_evaluator(Count);
    let report = echo(dataset).await;
    assert_eq!(report.analyses, [scalar("cases", 3), scalar("cases", 3)]);
    let failures: Vec<_> = report
        .report_evaluator_failures
        .iter()
        .map(|it| (it.evaluator.as_str(), it.kind, it.message.as_str()))
        .collect();
    assert_eq!(
        failures,
        [
            ("Broken", FailureKind::Error, "no scores"),
            ("Broken", FailureKind::Panic, "out of range"),
        ]
    );
    assert!(report.report_evaluator_failures[0].spec.is_some());
    assert_eq!(report.cases.len(), 3);
}

#[tokio::test]
async fn a_cancelled_run_waits_for_no_report_evaluator() {
    let cancellation = CancellationToken::new();
    cancellation.cancel();
    let dataset = numbered(2)
        .report_evaluator(Broken::Waits)
        .report_evaluator(Count);
    let task = |_, _| async { Ok::<_, TaskError>(String::new()) };
    let experiment = Experiment::new(dataset, task).cancellation(cancellation);
    let report = experiment.run().await;
    assert_eq!(report.not_run, 2);
    assert_eq!(report.analyses, [scalar("cases", 0)]);
    let failure = &report.report_evaluator_failures[0];
    assert_eq!(failure.message, "the run was interrupted");
}

fn one_of_each() -> Report<Words> {
    let curve = json!({"name": "words", "auc": 0.75, "points": [{"threshold": 0.5, "precision": 1.0, "recall": 0.5}]});
    let line = json!({"name": "words", "points": [{"x": 0.0, "y": 0.0}, {"x": 1.0, "y": 1.0}]});
    let analyses = json!([
        {
            "type": "confusion_matrix", "title": "Answers", "description": "of | all cases",
            "class_labels": ["yes", "no"], "matrix": [[3, 1], [0, 12]],
        },
        {"type": "precision_recall", "title": "Precision and recall", "curves": [curve]},
        {"type": "scalar", "title": "ROC AUC", "value": null, "description": "no positive case"},
        {"type": "scalar", "title": "Time", "value": 2.5, "unit": "s"},
        {
            "type": "table", "title": "By *topic*", "columns": ["Topic", "n", "Mean"],
            "rows": [["sports", 3, 0.125], ["news", null, true], ["short"]],
        },
        {
            "type": "line_plot", "title": "ROC", "x_label": "false positives", "y_label": "true positives",
            "curves": [line],
        },
    ]);
    Report {
        analyses: serde_json::from_value(analyses).unwrap(),
        ..report(Vec::new())
    }
}

#[test]
fn analyses_are_tables_and_lines() {
    let report = one_of_each();
    let summary = report.summary(&Bootstrap::default());
    let mut page = Vec::new();
    let console = render::Console::default();
    console.report(&mut page, &report, &summary).unwrap();
    insta::assert_snapshot!("console", String::from_utf8(page).unwrap());
    let mut page = Vec::new();
    render::markdown::report(&mut page, &report, &summary).unwrap();
    insta::assert_snapshot!("markdown", String::from_utf8(page).unwrap());
}

#[test]
fn a_written_report_keeps_its_analyses() {
    let report = one_of_each();
    let mut document = Vec::new();
    render::json::report(
        &mut document,
        &report,
        &report.summary(&Bootstrap::default()),
    )
    .unwrap();
    let back: Report<Words> = serde_json::from_slice(&document).unwrap();
    assert_eq!(back.analyses, report.analyses);
}
