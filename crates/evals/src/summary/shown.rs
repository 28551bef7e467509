//! Lists the measures that occur in the cases of a report.

use std::collections::{BTreeMap, BTreeSet};

use crate::{
    CaseOutcome, CaseReport, Direction, Domain, EvaluatorFailure, EvaluatorOrigin, MissedOutcome,
    ValueKind,
};

/// Identifies an evaluator within a run.
pub(super) type Evaluator<'a> = (EvaluatorOrigin, &'a str);

/// Identifies a measure: an evaluator and the name that it gave.
pub(super) type Measure<'a> = (Evaluator<'a>, &'a str);

/// A measure as it occurs in the cases.
#[derive(Debug)]
pub(super) struct ShownMeasure<'a> {
    pub(super) measure: Measure<'a>,
    /// The name that the evaluator gave it.
    pub(super) given_name: &'a str,
    pub(super) better: Direction,
    pub(super) kinds: BTreeSet<ValueKind>,
}

/// All measures in first-seen order. A measure that has no value because of failures keeps its place before those of later
/// evaluators, with the kind that its evaluator declared. A measure that is undefined everywhere counts as a score.
pub(super) fn shown<D: Domain>(cases: &[CaseReport<D>]) -> Vec<ShownMeasure<'_>> {
    let mut measures = returned(cases);
    for case in cases {
        for missed in &case.missed {
            let evaluator = (missed.origin, missed.evaluator.as_str());
            for outcome in &missed.outcomes {
                add_missed(&mut measures, evaluator, outcome);
            }
        }
    }
    for shown in &mut measures {
        if shown.kinds.is_empty() {
            shown.kinds.insert(ValueKind::Score);
        }
    }
    measures
}

fn returned<D: Domain>(cases: &[CaseReport<D>]) -> Vec<ShownMeasure<'_>> {
    let mut measures: Vec<ShownMeasure<'_>> = Vec::new();
    let mut positions = BTreeMap::new();
    for outcome in cases.iter().flat_map(|case| &case.outcomes) {
        let position = *positions.entry(measure(outcome)).or_insert_with(|| {
            measures.push(ShownMeasure {
                measure: measure(outcome),
                given_name: outcome.given_name.as_deref().unwrap_or(&outcome.name),
                better: outcome.better,
                kinds: BTreeSet::new(),
            });
            measures.len() - 1
        });
        let shown = &mut measures[position];
        shown.better = shown.better.agreed(outcome.better);
        shown.kinds.extend(outcome.value.kind());
    }
    measures
}

fn add_missed<'a>(
    measures: &mut Vec<ShownMeasure<'a>>,
    evaluator: Evaluator<'a>,
    outcome: &'a MissedOutcome,
) {
    let measure = (evaluator, outcome.name.as_str());
    let known = measures.iter_mut().find(|shown| shown.measure == measure);
    if let Some(shown) = known {
        shown.kinds.insert(outcome.kind);
        return;
    }
    let of_later_evaluator = |shown: &ShownMeasure<'_>| match (evaluator.0, shown.measure.0.0) {
        (EvaluatorOrigin::Case(_), EvaluatorOrigin::Dataset(_)) => true,
        (EvaluatorOrigin::Dataset(own), EvaluatorOrigin::Dataset(other)) => own < other,
        (_, EvaluatorOrigin::Case(_)) => false,
    };
    let place = measures.iter().position(of_later_evaluator);
    measures.insert(
        place.unwrap_or(measures.len()),
        ShownMeasure {
            measure,
            given_name: outcome.given_name.as_deref().unwrap_or(&outcome.name),
            better: outcome.better,
            kinds: BTreeSet::from([outcome.kind]),
        },
    );
}

/// The evaluator that failed.
pub(super) fn evaluator(failure: &EvaluatorFailure) -> Evaluator<'_> {
    (failure.origin, &failure.evaluator)
}

/// The measure that an outcome belongs to.
pub(super) fn measure(outcome: &CaseOutcome) -> Measure<'_> {
    ((outcome.origin, &outcome.evaluator), &outcome.name)
}

/// The names of evaluators that failed and never returned an outcome, in the order in which the cases show them.
pub(super) fn failed_evaluators<D: Domain>(cases: &[CaseReport<D>]) -> Vec<String> {
    let outcomes = cases.iter().flat_map(|case| &case.outcomes);
    let returned: BTreeSet<Evaluator<'_>> = outcomes
        .map(|outcome| (outcome.origin, outcome.evaluator.as_str()))
        .collect();
    let failures = cases.iter().flat_map(|case| &case.evaluator_failures);
    let mut seen = BTreeSet::new();
    let failed = failures
        .map(evaluator)
        .filter(|failed| !returned.contains(failed) && seen.insert(*failed));
    failed.map(|(_, name)| name.to_owned()).collect()
}
