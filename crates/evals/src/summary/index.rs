//! Which measures there are, which column an outcome belongs to, and which ones an evaluator fills.

use std::collections::{BTreeMap, BTreeSet};

use super::MeasureSource;
use super::column::{Column, Kind, Scope};
use crate::naming::Names;
use crate::{CaseOutcome, CaseReport, Direction, Domain, EvaluatorFailure, EvaluatorOrigin};

/// What tells an evaluator from the others of a run.
type Evaluator<'a> = (EvaluatorOrigin, &'a str);

/// A measure is what one evaluator says under one name.
type Measure<'a> = (Evaluator<'a>, &'a str);

/// Every measure of a report, in the order in which the cases first show them.
#[derive(Debug, Default)]
pub(super) struct Index<'a> {
    pub(super) columns: Vec<Column<'a>>,
    /// The evaluator behind each title.
    pub(super) sources: Vec<(String, MeasureSource)>,
    pub(super) places: Places<'a>,
}

/// Where the columns are and who fills them.
#[derive(Debug, Default)]
pub(super) struct Places<'a> {
    by_measure: BTreeMap<Measure<'a>, BTreeMap<Kind, usize>>,
    by_evaluator: BTreeMap<Evaluator<'a>, BTreeSet<usize>>,
}

/// What the cases show of a measure.
#[derive(Debug)]
struct Shown<'a> {
    measure: Measure<'a>,
    /// What the evaluator calls it.
    given_name: &'a str,
    better: Direction,
    kinds: BTreeSet<Kind>,
}

impl<'a> Index<'a> {
    pub(super) fn of<D: Domain>(cases: &'a [CaseReport<D>]) -> Self {
        let mut index = Self::default();
        let mut titles = Names::default();
        for shown in shown(cases) {
            let title = titles.claim(shown.measure.1);
            index.add(title, &shown);
        }
        for failure in cases.iter().flat_map(|case| &case.evaluator_failures) {
            let evaluator = (failure.origin, failure.evaluator.as_str());
            // An evaluator that never returned anything is a measure of its own, without a value.
            if !index.places.by_evaluator.contains_key(&evaluator) {
                let title = titles.claim(evaluator.1);
                let silent = Shown {
                    measure: (evaluator, evaluator.1),
                    given_name: evaluator.1,
                    better: Direction::Unknown,
                    kinds: BTreeSet::from([Kind::Score]),
                };
                index.add(title, &silent);
            }
        }
        index
    }

    /// Adds the columns of a measure, one for each kind.
    fn add(&mut self, title: String, shown: &Shown<'a>) {
        let (evaluator, _) = shown.measure;
        let (origin, name) = evaluator;
        for kind in &shown.kinds {
            let position = self.columns.len();
            let scope = Scope::of(origin, name);
            self.columns
                .push(Column::new(title.clone(), *kind, shown.better, scope));
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
        };
        self.sources.push((title, source));
    }
}

impl<'a> Places<'a> {
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

/// What the cases show; a measure that is undefined everywhere counts as a score.
fn shown<D: Domain>(cases: &[CaseReport<D>]) -> Vec<Shown<'_>> {
    let mut measures: Vec<Shown<'_>> = Vec::new();
    let mut positions = BTreeMap::new();
    for outcome in cases.iter().flat_map(|case| &case.outcomes) {
        let position = *positions.entry(measure(outcome)).or_insert_with(|| {
            measures.push(Shown {
                measure: measure(outcome),
                given_name: outcome.given_name.as_deref().unwrap_or(&outcome.name),
                better: outcome.better,
                kinds: BTreeSet::new(),
            });
            measures.len() - 1
        });
        let shown = &mut measures[position];
        shown.better = shown.better.agreed(outcome.better);
        shown.kinds.extend(Kind::of(&outcome.value));
    }
    for shown in &mut measures {
        if shown.kinds.is_empty() {
            shown.kinds.insert(Kind::Score);
        }
    }
    measures
}
