//! Sorting the outcomes of all cases into columns, one for each measure.

use std::collections::{BTreeMap, BTreeSet};

use evals_metrics::{Bootstrap, Mean};

use super::column::{Column, Kind};
use super::{LabelShares, PassRate, ratio};
use crate::{CaseReport, Domain, Value};

const TASK_FAILED: &str = "task failed";
const EVALUATOR_FAILED: &str = "evaluator failed";

/// All measures of a report.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    columns: Vec<Column<'a>>,
    metrics: BTreeMap<&'a str, Column<'a>>,
    passed: usize,
    asserted: usize,
}

/// Where the columns are and who fills them.
#[derive(Debug, Default)]
struct Index<'a> {
    by_name: BTreeMap<&'a str, BTreeMap<Kind, usize>>,
    by_evaluator: BTreeMap<&'a str, BTreeSet<usize>>,
}

impl<'a> Tally<'a> {
    pub(super) fn of<D: Domain>(cases: &'a [CaseReport<D>]) -> Self {
        let (columns, index) = columns(cases);
        let metrics = cases.iter().flat_map(|case| case.metrics.keys());
        let mut tally = Self {
            columns,
            metrics: metrics
                .map(|name| (name.as_str(), Column::new(name, Kind::Score)))
                .collect(),
            passed: 0,
            asserted: 0,
        };
        // Repetitions of a case follow each other.
        for repetitions in cases.chunk_by(|left, right| left.id == right.id) {
            for case in repetitions {
                tally.add(case, &index);
            }
            tally.all_columns().for_each(Column::close_case);
        }
        tally
    }

    fn all_columns(&mut self) -> impl Iterator<Item = &mut Column<'a>> {
        self.columns.iter_mut().chain(self.metrics.values_mut())
    }

    fn add<D: Domain>(&mut self, case: &'a CaseReport<D>, index: &Index<'a>) {
        if case.result.failure().is_some() {
            self.all_columns()
                .for_each(|column| column.exclude(TASK_FAILED));
            return;
        }
        let mut filled = BTreeSet::new();
        for outcome in &case.outcomes {
            let position = index.position(&outcome.name, &outcome.value);
            filled.insert(position);
            self.add_value(position, &outcome.value, outcome.reason.as_deref());
        }
        for failure in &case.evaluator_failures {
            for position in index.by_evaluator[failure.evaluator.as_str()].difference(&filled) {
                self.columns[*position].exclude(EVALUATOR_FAILED);
            }
        }
        for (name, value) in &case.metrics {
            if let Some(column) = self.metrics.get_mut(name.as_str()) {
                column.add_number(*value);
            }
        }
    }

    fn add_value(&mut self, position: usize, value: &'a Value, reason: Option<&'a str>) {
        let column = &mut self.columns[position];
        match value {
            Value::Score(score) => column.add_number(*score),
            Value::Label(label) => column.add_label(label),
            Value::Undefined => column.exclude(reason.unwrap_or("undefined")),
            Value::Assertion(passed) => {
                column.add_number(if *passed { 1.0 } else { 0.0 });
                self.asserted += 1;
                self.passed += usize::from(*passed);
            }
        }
    }

    pub(super) fn pass_rate(&self) -> PassRate {
        PassRate {
            value: ratio(self.passed, self.asserted),
            passed: self.passed,
            n: self.asserted,
        }
    }

    pub(super) fn means(&self, kind: Kind, bootstrap: &Bootstrap) -> Vec<(String, Mean)> {
        let columns = self.columns.iter().filter(|column| column.kind == kind);
        columns
            .map(|column| (column.name.to_owned(), column.mean(bootstrap)))
            .collect()
    }

    pub(super) fn metrics(&self, bootstrap: &Bootstrap) -> Vec<(String, Mean)> {
        self.metrics
            .iter()
            .map(|(name, column)| ((*name).to_owned(), column.mean(bootstrap)))
            .collect()
    }

    pub(super) fn labels(&self) -> Vec<(String, LabelShares)> {
        let columns = self
            .columns
            .iter()
            .filter(|column| column.kind == Kind::Label);
        columns
            .map(|column| (column.name.to_owned(), column.label_shares()))
            .collect()
    }
}

/// Finds every measure of the report, in the order in which the cases first show them.
fn columns<D: Domain>(cases: &[CaseReport<D>]) -> (Vec<Column<'_>>, Index<'_>) {
    let mut columns = Vec::new();
    let mut index = Index::default();
    for (name, kinds) in kinds_by_name(cases) {
        for kind in kinds {
            index
                .by_name
                .entry(name)
                .or_default()
                .insert(kind, columns.len());
            columns.push(Column::new(name, kind));
        }
    }
    for outcome in cases.iter().flat_map(|case| &case.outcomes) {
        let position = index.position(&outcome.name, &outcome.value);
        index
            .by_evaluator
            .entry(&outcome.evaluator)
            .or_default()
            .insert(position);
    }
    for failure in cases.iter().flat_map(|case| &case.evaluator_failures) {
        // An evaluator that never returned anything is a measure of its own, without a value.
        index
            .by_evaluator
            .entry(&failure.evaluator)
            .or_insert_with(|| {
                columns.push(Column::new(&failure.evaluator, Kind::Score));
                BTreeSet::from([columns.len() - 1])
            });
    }
    (columns, index)
}

/// The kinds of values that each name has; a name that is undefined everywhere counts as a score.
fn kinds_by_name<D: Domain>(cases: &[CaseReport<D>]) -> Vec<(&str, BTreeSet<Kind>)> {
    let mut names: Vec<(&str, BTreeSet<Kind>)> = Vec::new();
    let mut positions = BTreeMap::new();
    for outcome in cases.iter().flat_map(|case| &case.outcomes) {
        let position = *positions.entry(outcome.name.as_str()).or_insert_with(|| {
            names.push((&outcome.name, BTreeSet::new()));
            names.len() - 1
        });
        names[position].1.extend(Kind::of(&outcome.value));
    }
    for (_, kinds) in &mut names {
        if kinds.is_empty() {
            kinds.insert(Kind::Score);
        }
    }
    names
}

impl Index<'_> {
    /// The column of a value; an undefined one goes to the first kind that its name has elsewhere.
    fn position(&self, name: &str, value: &Value) -> usize {
        let kinds = &self.by_name[name];
        match Kind::of(value) {
            Some(kind) => kinds[&kind],
            None => *kinds
                .values()
                .next()
                .expect("every name has at least one kind"),
        }
    }
}
