//! An index of measures: the column of each outcome, and the columns of each evaluator.

use std::collections::{BTreeMap, BTreeSet};

use super::MeasureSource;
use super::column::MeasureColumn;
use super::shown::{Evaluator, Measure, ShownMeasure, evaluator, measure, shown};
use crate::naming::Names;
use crate::{CaseOutcome, CaseReport, Direction, Domain, EvaluatorFailure, ValueKind};

/// Every measure of a report, in the order in which the cases first show them.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    pub(super) columns: Vec<MeasureColumn<'a>>,
    /// The evaluator behind each title.
    pub(super) sources: Vec<(String, MeasureSource)>,
    pub(super) places: Places<'a>,
}

/// The positions of columns and the evaluators that fill them.
#[derive(Debug, Default)]
pub(super) struct Places<'a> {
    by_measure: BTreeMap<Measure<'a>, BTreeMap<ValueKind, usize>>,
    by_evaluator: BTreeMap<Evaluator<'a>, BTreeSet<usize>>,
}

impl<'a> Index<'a> {
    pub(super) fn of<D: Domain>(cases: &'a [CaseReport<D>]) -> Self {
        let mut index = Self::default();
        let mut titles = Names::default();
        for shown in shown(cases) {
            let title = titles.claim(shown.measure.1);
            index.add(title, &shown);
        }
        for evaluator in cases.iter().flat_map(undeclared) {
            // An evaluator that never returned anything gets a measure of its own, without a value.
            if !index.places.by_evaluator.contains_key(&evaluator) {
                let title = titles.claim(evaluator.1);
                let silent = ShownMeasure {
                    measure: (evaluator, evaluator.1),
                    given_name: evaluator.1,
                    better: Direction::Unknown,
                    kinds: BTreeSet::from([ValueKind::Score]),
                };
                index.add(title, &silent);
            }
        }
        index
    }

    /// Adds the columns of a measure, one for each kind.
    fn add(&mut self, title: String, shown: &ShownMeasure<'a>) {
        let (evaluator, _) = shown.measure;
        let (origin, name) = evaluator;
        for kind in &shown.kinds {
            let position = self.columns.len();
            self.columns.push(MeasureColumn::new(
                title.clone(),
                *kind,
                shown.better,
                Some(evaluator),
            ));
            let positions = self.places.by_measure.entry(shown.measure).or_default();
            positions.insert(*kind, position);
            let filled = self.places.by_evaluator.entry(evaluator).or_default();
            filled.insert(position);
        }
        let source = MeasureSource {
            evaluator: name.to_owned(),
            origin,
            outcome: shown.given_name.to_owned(),
            better: shown.better,
            mean_title: None,
        };
        self.sources.push((title, source));
    }
}

impl<'a> Places<'a> {
    /// The column of an outcome; an undefined one goes to the first kind that its measure has elsewhere.
    pub(super) fn column(&self, outcome: &CaseOutcome) -> usize {
        let kinds = &self.by_measure[&measure(outcome)];
        match outcome.value.kind() {
            Some(kind) => kinds[&kind],
            None => *kinds
                .values()
                .next()
                .expect("every measure has at least one kind"),
        }
    }

    /// All columns that a failed evaluator fills in other cases.
    pub(super) fn columns_of(&self, failure: &'a EvaluatorFailure) -> &BTreeSet<usize> {
        &self.by_evaluator[&evaluator(failure)]
    }

    /// The columns that a failure left empty for a case, as far as evaluators declare them.
    pub(super) fn missed<D: Domain>(
        &self,
        case: &'a CaseReport<D>,
    ) -> BTreeMap<Evaluator<'a>, BTreeSet<usize>> {
        let missed = case.missed.iter().map(|missed| {
            let evaluator = (missed.origin, missed.evaluator.as_str());
            let columns = missed.outcomes.iter();
            let columns = columns
                .map(|outcome| self.by_measure[&(evaluator, outcome.name.as_str())][&outcome.kind]);
            (evaluator, columns.collect())
        });
        missed.collect()
    }
}

/// The failed evaluators of a case that do not declare their outcomes.
fn undeclared<D: Domain>(case: &CaseReport<D>) -> impl Iterator<Item = Evaluator<'_>> {
    let failed = case.evaluator_failures.iter().map(evaluator);
    failed.filter(|failed| {
        let mut missed = case.missed.iter();
        !missed.any(|missed| (missed.origin, missed.evaluator.as_str()) == *failed)
    })
}
