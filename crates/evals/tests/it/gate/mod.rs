//! Tests of gates: verdicts worked by hand, and properties.

mod clusters;
mod drops;
mod failures;
mod limits;
mod properties;
mod rendering;
mod rules;
mod sameness;
mod trials;

use evals::{
    CheckNumbers, DropCheck, Gate, GateCheck, GateError, GateReport, MeasureNames, Report, Rule,
    Snapshot, Subject,
};
use evals_metrics::Bootstrap;

use crate::fakes::{Words, finished, report, score};

/// A report with one score, of cases `q000`, `q001` and so on.
pub(super) fn scored(values: &[f64]) -> Report<Words> {
    let cases = values.iter().enumerate();
    let cases =
        cases.map(|(number, value)| finished(&format!("q{number:03}"), vec![score("RR", *value)]));
    report(cases.collect())
}

pub(super) fn snapshot(report: &Report<Words>) -> Snapshot {
    let summary = report.summary(&Bootstrap::default());
    Snapshot::of("run", report, &summary)
}

pub(super) fn max_drop(tolerance: f64) -> Rule {
    Rule::MaxDrop {
        measure: "RR".to_owned(),
        tolerance,
    }
}

pub(super) fn min(measure: &str, floor: f64) -> Rule {
    Rule::Min {
        measure: measure.to_owned(),
        floor,
    }
}

pub(super) fn max(quantity: &str, ceiling: f64) -> Rule {
    Rule::Max {
        quantity: quantity.to_owned(),
        ceiling,
    }
}

pub(super) fn gate(rules: impl IntoIterator<Item = Rule>) -> Gate {
    Gate {
        rules: rules.into_iter().collect(),
        ..Gate::default()
    }
}

/// The verdicts on one run against one baseline.
pub(super) fn judged(
    gate: &Gate,
    baseline: &Report<Words>,
    run: &Report<Words>,
) -> Result<GateReport, GateError> {
    judged_snapshots(gate, Some(&snapshot(baseline)), &snapshot(run))
}

pub(super) fn judged_snapshots(
    gate: &Gate,
    baseline: Option<&Snapshot>,
    run: &Snapshot,
) -> Result<GateReport, GateError> {
    gate.judge(
        &[Subject {
            run,
            baseline,
            checks: &[],
        }],
        &Named,
    )
}

/// Every measure has one name.
pub(super) struct Named;

impl MeasureNames for Named {
    fn means(&self, written: &str, title: &str) -> bool {
        written == title
    }
}

/// The check with a name.
pub(super) fn check<'g>(report: &'g GateReport, name: &str) -> &'g GateCheck {
    let mut checks = report.checks();
    let found = checks.find(|(_, check)| check.name == name);
    found
        .unwrap_or_else(|| panic!("no check `{name}` in {report:?}"))
        .1
}

pub(super) fn drop_numbers(check: &GateCheck) -> &DropCheck {
    match &check.numbers {
        CheckNumbers::Drop(evidence) => evidence,
        other => panic!("{other:?}"),
    }
}
