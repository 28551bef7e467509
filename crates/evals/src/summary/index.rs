//! Which column an outcome belongs to, and which ones an evaluator fills.

use std::collections::{BTreeMap, BTreeSet};

use super::column::{Column, Kind, Scope};
use crate::naming::Names;
use crate::{CaseOutcome, CaseReport, Domain, EvaluatorFailure, EvaluatorOrigin};

/// What tells an evaluator from the others of a run.
type Evaluator<'a> = (EvaluatorOrigin, &'a str);

/// A measure is what one evaluator says under one name.
type Measure<'a> = (Evaluator<'a>, &'a str);

/// Where the columns are and who fills them.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    by_measure: BTreeMap<Measure<'a>, BTreeMap<Kind, usize>>,
    by_evaluator: BTreeMap<Evaluator<'a>, BTreeSet<usize>>,
}

impl<'a> Index<'a> {
    /// Finds every measure of a report, in the order in which the cases first show them.
    pub(super) fn of<D: Domain>(cases: &'a [CaseReport<D>]) -> (Vec<Column<'a>>, Self) {
        let mut index = Self::default();
        let mut columns = Vec::new();
        let mut titles = Names::default();
        for (measure, kinds) in kinds(cases) {
            let ((origin, evaluator), name) = measure;
            let title = titles.claim(name);
            for kind in kinds {
                let position = columns.len();
                columns.push(Column::new(
                    title.clone(),
                    kind,
                    Scope::of(origin, evaluator),
                ));
                let positions = index.by_measure.entry(measure).or_default();
                positions.insert(kind, position);
                let filled = index.by_evaluator.entry((origin, evaluator)).or_default();
                filled.insert(position);
            }
        }
        for failure in cases.iter().flat_map(|case| &case.evaluator_failures) {
            let (origin, evaluator) = (failure.origin, failure.evaluator.as_str());
            // An evaluator that never returned anything is a measure of its own, without a value.
            index
                .by_evaluator
                .entry((origin, evaluator))
                .or_insert_with(|| {
                    let title = titles.claim(evaluator);
                    let scope = Scope::of(origin, evaluator);
                    columns.push(Column::new(title, Kind::Score, scope));
                    BTreeSet::from([columns.len() - 1])
                });
        }
        (columns, index)
    }

    /// The column of an outcome; an undefined one goes to the first kind that its measure has elsewhere.
    pub(super) fn column(&self, outcome: &CaseOutcome) -> usize {
        let kinds = &self.by_measure[&measure(outcome)];
        match Kind::of(&outcome.value) {
            Some(kind) => kinds[&kind],
            None => *kinds
                .values()
                .next()
                .expect("every measure has at least one kind"),
        }
    }

    /// All columns that a failed evaluator fills in other cases.
    pub(super) fn columns_of(&self, failure: &'a EvaluatorFailure) -> &BTreeSet<usize> {
        &self.by_evaluator[&(failure.origin, failure.evaluator.as_str())]
    }
}

fn measure(outcome: &CaseOutcome) -> Measure<'_> {
    ((outcome.origin, &outcome.evaluator), &outcome.name)
}

/// The kinds of values that each measure has; one that is undefined everywhere counts as a score.
fn kinds<D: Domain>(cases: &[CaseReport<D>]) -> Vec<(Measure<'_>, BTreeSet<Kind>)> {
    let mut measures: Vec<(Measure<'_>, BTreeSet<Kind>)> = Vec::new();
    let mut positions = BTreeMap::new();
    for outcome in cases.iter().flat_map(|case| &case.outcomes) {
        let position = *positions.entry(measure(outcome)).or_insert_with(|| {
            measures.push((measure(outcome), BTreeSet::new()));
            measures.len() - 1
        });
        measures[position].1.extend(Kind::of(&outcome.value));
    }
    for (_, kinds) in &mut measures {
        if kinds.is_empty() {
            kinds.insert(Kind::Score);
        }
    }
    measures
}
