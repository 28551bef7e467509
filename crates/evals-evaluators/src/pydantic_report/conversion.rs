//! From a report of ours to one of pydantic-evals.

use evals::{
    Analysis, CaseOutcome, CaseReport, EvaluatorIdentity, EvaluatorOrigin, EvaluatorSpec,
    FailureKind, Report, SpecArguments, TaskFailure, TaskResult, Value as Verdict,
};
use evals_rag::Purpose;
use serde_json::{Map, Number, Value, json};

use super::entries::Entries;
use super::report::{
    EvaluationReport, EvaluationResult, EvaluatorFailure, ReportCase, ReportCaseFailure,
};
use crate::{Untyped, result_keys};

/// Whole numbers up to this size are written as integers.
const LARGEST: f64 = 9_007_199_254_740_992.0;

/// Undefined outcomes, timings and steps are left out, because their model cannot hold them. Three things differ from a report that
/// pydantic-evals made:
///
/// - `total_duration` is that of the task, because the time of evaluators is not recorded apart from their calls.
/// - Errors have no class of a Python exception; `error_type` is `panic` or `not-finite` for those kinds, else `null`.
/// - A scalar without a value becomes a table with an empty cell, because theirs must have one. The experiment's metadata says
///   under `not_run` how many runs of cases are missing, if any are.
impl From<&Report<Untyped>> for EvaluationReport {
    fn from(report: &Report<Untyped>) -> Self {
        let (mut cases, mut failures) = (Vec::new(), Vec::new());
        for case in &report.cases {
            match &case.result {
                TaskResult::Output(output) => cases.push(finished(report, case, output)),
                TaskResult::Failure(failure) => failures.push(failed(report, case, failure)),
            }
        }
        let mut metadata = report.metadata.clone();
        if report.not_run > 0 {
            metadata.insert("not_run".to_owned(), json!(report.not_run));
        }
        let failures_of_reports = report.report_evaluator_failures.iter();
        Self {
            name: report.name.clone(),
            cases,
            failures,
            analyses: report.analyses.iter().map(with_value).collect(),
            report_evaluator_failures: failures_of_reports
                .map(|failure| EvaluatorFailure {
                    name: failure.evaluator.clone(),
                    error_message: failure.message.clone(),
                    error_stacktrace: String::new(),
                    source: failure
                        .spec
                        .clone()
                        .unwrap_or_else(|| bare(&failure.evaluator)),
                    evaluator_version: None,
                    error_type: error_type(failure.kind),
                })
                .collect(),
            experiment_metadata: (!metadata.is_empty()).then_some(metadata),
            trace_id: None,
            span_id: None,
            dataset_name: Some(report.dataset.clone()),
        }
    }
}

fn finished(report: &Report<Untyped>, case: &CaseReport<Untyped>, output: &Value) -> ReportCase {
    let seconds = case.duration.as_secs_f64();
    let mut finished = ReportCase {
        name: case.label(report.repeat),
        inputs: case.input.clone(),
        metadata: case.metadata.clone(),
        expected_output: case.expected.clone().unwrap_or_default(),
        output: output.clone(),
        metrics: metrics(case),
        attributes: attributes(case),
        scores: Entries::default(),
        labels: Entries::default(),
        assertions: Entries::default(),
        task_duration: seconds,
        total_duration: seconds,
        source_case_name: source_case_name(report, case),
        trace_id: None,
        span_id: None,
        evaluator_failures: evaluator_failures(report, case),
    };
    for (key, outcome) in result_keys::results(case) {
        match &outcome.value {
            Verdict::Undefined => {}
            Verdict::Assertion(passed) => {
                let result = result(report, case, outcome, *passed);
                finished.assertions.insert(key, result);
            }
            // The runner replaces scores that are not finite by failures.
            Verdict::Score(score) => {
                if let Some(score) = Number::from_f64(*score) {
                    let result = result(report, case, outcome, score);
                    finished.scores.insert(key, result);
                }
            }
            Verdict::Label(label) => {
                let result = result(report, case, outcome, label.clone());
                finished.labels.insert(key, result);
            }
        }
    }
    finished
}

fn failed(
    report: &Report<Untyped>,
    case: &CaseReport<Untyped>,
    failure: &TaskFailure,
) -> ReportCaseFailure {
    ReportCaseFailure {
        name: case.label(report.repeat),
        inputs: case.input.clone(),
        metadata: case.metadata.clone(),
        expected_output: case.expected.clone().unwrap_or_default(),
        error_message: failure.message.clone(),
        error_stacktrace: String::new(),
        source_case_name: source_case_name(report, case),
        trace_id: None,
        span_id: None,
    }
}

fn result<V>(
    report: &Report<Untyped>,
    case: &CaseReport<Untyped>,
    outcome: &CaseOutcome,
    value: V,
) -> EvaluationResult<V> {
    let identity = identity(report, case, outcome.origin, &outcome.evaluator);
    EvaluationResult {
        name: outcome.given_name.as_ref().unwrap_or(&outcome.name).clone(),
        value,
        reason: outcome.reason.clone(),
        source: source(identity, &outcome.evaluator),
        evaluator_version: identity.and_then(|identity| identity.version.clone()),
    }
}

fn evaluator_failures(
    report: &Report<Untyped>,
    case: &CaseReport<Untyped>,
) -> Vec<EvaluatorFailure> {
    let failures = case.evaluator_failures.iter();
    let failures = failures.map(|failure| {
        let identity = identity(report, case, failure.origin, &failure.evaluator);
        EvaluatorFailure {
            name: failure.evaluator.clone(),
            error_message: failure.message.clone(),
            error_stacktrace: String::new(),
            source: source(identity, &failure.evaluator),
            evaluator_version: identity.and_then(|identity| identity.version.clone()),
            error_type: error_type(failure.kind),
        }
    });
    failures.collect()
}

/// The evaluator of an origin, if the report records it.
fn identity<'r>(
    report: &'r Report<Untyped>,
    case: &'r CaseReport<Untyped>,
    origin: EvaluatorOrigin,
    evaluator: &str,
) -> Option<&'r EvaluatorIdentity> {
    let place = |number: u32| usize::try_from(number).ok()?.checked_sub(1);
    match origin {
        EvaluatorOrigin::Dataset(number) => report.evaluators.get(place(number)?),
        EvaluatorOrigin::Case(number) => {
            let own = case.own_evaluators.iter();
            own.filter(|own| own.name == evaluator).nth(place(number)?)
        }
    }
}

fn source(identity: Option<&EvaluatorIdentity>, evaluator: &str) -> EvaluatorSpec {
    let spec = identity.and_then(|identity| identity.spec.clone());
    spec.unwrap_or_else(|| bare(evaluator))
}

/// The specification of an evaluator that no file can name.
fn bare(evaluator: &str) -> EvaluatorSpec {
    EvaluatorSpec {
        name: evaluator.to_owned(),
        arguments: SpecArguments::None,
    }
}

fn error_type(kind: FailureKind) -> Option<String> {
    match kind {
        FailureKind::Panic => Some("panic".to_owned()),
        FailureKind::NotFinite => Some("not-finite".to_owned()),
        _ => None,
    }
}

fn source_case_name(report: &Report<Untyped>, case: &CaseReport<Untyped>) -> Option<String> {
    (report.repeat > 1).then(|| case.id.to_string())
}

/// Whole numbers, which most metrics are, as integers. The tokens of judges are no metrics of the task there.
fn metrics(case: &CaseReport<Untyped>) -> Entries<Number> {
    let metrics = case.metrics.iter();
    let metrics = metrics.filter(|(name, _)| !is_of_judge(Purpose::of_metric(name)));
    let metrics = metrics.filter_map(|(name, metric)| {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "a whole number within the limit is exact"
        )]
        let number = if metric.fract() == 0.0 && metric.abs() < LARGEST {
            Some(Number::from(*metric as i64))
        } else {
            Number::from_f64(*metric)
        };
        Some((name.as_str(), number?))
    });
    metrics.collect()
}

/// Facts that the task recorded.
fn attributes(case: &CaseReport<Untyped>) -> Map<String, Value> {
    let attributes = case.attributes.clone().into_iter();
    attributes
        .filter(|(name, _)| !is_of_judge(Purpose::of_attribute(name)))
        .collect()
}

fn is_of_judge(purpose: Option<Purpose>) -> bool {
    purpose.is_some_and(Purpose::is_judging)
}

/// The analysis, with a table in place of a scalar without a value.
fn with_value(analysis: &Analysis) -> Analysis {
    match analysis {
        Analysis::Scalar {
            title,
            description,
            value: None,
            unit,
        } => Analysis::Table {
            title: title.clone(),
            description: description.clone(),
            columns: vec![unit.clone().unwrap_or_else(|| "value".to_owned())],
            rows: vec![vec![Value::Null]],
        },
        other => other.clone(),
    }
}
