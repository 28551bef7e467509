//! Sorts the outcomes of all cases into columns, one for each measure.

use std::collections::{BTreeMap, BTreeSet};

use evals_metrics::Mean;

use super::averaging::Averaging;
use super::column::{Gap, Gaps, MeasureColumn, Scope, Values};
use super::index::{Index, Places};
use super::labels::Labels;
use super::shown::evaluator;
use super::{Accuracy, LabelShares, MeasureSource, PassRate, ratio};
use crate::{CaseReport, Direction, Domain, Unit, Value, ValueKind};

/// The columns of a report.
#[derive(Debug)]
pub(super) struct Tally<'a> {
    columns: Vec<MeasureColumn<'a>>,
    sources: Vec<(String, MeasureSource)>,
    metrics: BTreeMap<&'a str, MeasureColumn<'a>>,
    passed: usize,
    asserted: usize,
}

impl<'a> Tally<'a> {
    pub(super) fn of<D: Domain>(cases: &'a [CaseReport<D>]) -> Self {
        let Index {
            columns,
            sources,
            places,
        } = Index::of(cases);
        let metric = |name: &'a String| {
            let column = MeasureColumn::new(
                name.clone(),
                ValueKind::Score,
                Direction::Unknown,
                Scope::Every,
            );
            (name.as_str(), column)
        };
        let metrics = cases
            .iter()
            .flat_map(|case| case.metrics.keys().chain(case.undefined_metrics.keys()));
        let mut tally = Self {
            columns,
            sources,
            metrics: metrics.map(metric).collect(),
            passed: 0,
            asserted: 0,
        };
        // Repetitions of a case follow each other.
        for repetitions in cases.chunk_by(|left, right| left.id == right.id) {
            for case in repetitions {
                tally.add(case, &places);
                tally
                    .all_columns()
                    .for_each(MeasureColumn::close_repetition);
            }
            if let Some(case) = repetitions.first() {
                tally
                    .all_columns()
                    .for_each(|column| column.close_case(&case.id));
            }
        }
        tally
    }

    fn all_columns(&mut self) -> impl Iterator<Item = &mut MeasureColumn<'a>> {
        self.columns.iter_mut().chain(self.metrics.values_mut())
    }

    fn add<D: Domain>(&mut self, case: &'a CaseReport<D>, places: &Places<'a>) {
        if case.result.failure().is_some() {
            self.add_failed_task(case, places);
            return;
        }
        let mut filled = BTreeSet::new();
        for outcome in &case.outcomes {
            let position = places.column(outcome);
            filled.insert(position);
            self.add_value(position, &outcome.value, outcome.reason.as_deref());
        }
        let missed = places.missed(case);
        for failure in &case.evaluator_failures {
            let declared = missed.get(&evaluator(failure));
            let positions = declared.unwrap_or_else(|| places.columns_of(failure));
            for position in positions.difference(&filled) {
                self.columns[*position].exclude_covered(Gap::EvaluatorFailed);
            }
        }
        for (name, value) in &case.metrics {
            if let Some(column) = self.metrics.get_mut(name.as_str()) {
                column.add_number(*value);
            }
        }
        for (name, reason) in &case.undefined_metrics {
            if let Some(column) = self.metrics.get_mut(name.as_str()) {
                column.exclude_covered(Gap::Undefined(reason));
            }
        }
    }

    /// A failed task leaves out all metrics and the outcomes that evaluators declare. All measures of an evaluator that
    /// declares nothing count as left out.
    fn add_failed_task<D: Domain>(&mut self, case: &'a CaseReport<D>, places: &Places<'a>) {
        let missed = places.missed(case);
        for (position, column) in self.columns.iter_mut().enumerate() {
            match missed.get(&places.evaluator_of(position)) {
                Some(declared) if declared.contains(&position) => {
                    column.exclude_covered(Gap::TaskFailed);
                }
                Some(_) => {}
                None => column.exclude(case, Gap::TaskFailed),
            }
        }
        for column in self.metrics.values_mut() {
            column.exclude_covered(Gap::TaskFailed);
        }
    }

    fn add_value(&mut self, position: usize, value: &'a Value, reason: Option<&'a str>) {
        let column = &mut self.columns[position];
        match value {
            Value::Score(score) => column.add_number(*score),
            Value::Label(label) => column.add_label(label),
            Value::Undefined => {
                column.exclude_covered(Gap::Undefined(reason.unwrap_or("undefined")));
            }
            Value::Assertion(passed) => {
                column.add_assertion(*passed);
                self.asserted += 1;
                self.passed += usize::from(*passed);
            }
        }
    }

    pub(super) fn pass_rate(&self) -> PassRate {
        let mut excluded: BTreeMap<String, usize> = BTreeMap::new();
        let valueless = self
            .of_kind(ValueKind::Assertion)
            .flat_map(MeasureColumn::valueless);
        for (reason, count) in valueless {
            *excluded.entry((*reason).to_owned()).or_default() += count;
        }
        PassRate {
            value: ratio(self.passed, self.asserted),
            passed: self.passed,
            n: self.asserted,
            excluded,
        }
    }

    pub(super) fn scores(&self, averaging: &Averaging<'_>) -> Vec<(String, Mean)> {
        self.of_kind(ValueKind::Score)
            .map(|column| (column.title.clone(), column.mean(averaging)))
            .collect()
    }

    pub(super) fn accuracy(&self, averaging: &Averaging<'_>) -> Vec<(String, Accuracy)> {
        self.of_kind(ValueKind::Assertion)
            .map(|column| (column.title.clone(), column.accuracy(averaging)))
            .collect()
    }

    pub(super) fn metrics(&self, averaging: &Averaging<'_>) -> Vec<(String, Mean)> {
        let metrics = self.metrics.values();
        metrics
            .map(|column| (column.title.clone(), column.mean_amount(averaging)))
            .collect()
    }

    /// The scores and assertions, in the order in which evaluators return them.
    pub(super) fn measures(&self) -> Vec<MeasureKey> {
        let measure = |column: &MeasureColumn<'a>| {
            let unit = match column.kind {
                ValueKind::Score => Unit::Score,
                ValueKind::Assertion => Unit::PassRate,
                ValueKind::Label => return None,
            };
            Some(MeasureKey {
                unit,
                title: column.title.clone(),
                better: column.better,
            })
        };
        self.columns.iter().filter_map(measure).collect()
    }

    /// The value of each case, for the measures of one kind.
    pub(super) fn values(&self, kind: ValueKind) -> BTreeMap<String, Values<'a>> {
        values(self.of_kind(kind))
    }

    /// The value of each case, for metrics.
    pub(super) fn metric_values(&self) -> BTreeMap<String, Values<'a>> {
        values(self.metrics.values())
    }

    /// Why cases have no value, for the measures of one kind.
    pub(super) fn gaps(&self, kind: ValueKind) -> BTreeMap<String, Gaps<'a>> {
        gaps(self.of_kind(kind))
    }

    /// Why cases have no value, for metrics.
    pub(super) fn metric_gaps(&self) -> BTreeMap<String, Gaps<'a>> {
        gaps(self.metrics.values())
    }

    pub(super) fn labels(&self) -> Vec<(String, LabelShares)> {
        self.of_kind(ValueKind::Label)
            .map(|column| (column.title.clone(), column.label_shares()))
            .collect()
    }

    /// The labels of each case, for the measures that are labels.
    pub(super) fn case_labels(&self) -> BTreeMap<String, Labels<'a>> {
        self.of_kind(ValueKind::Label)
            .map(|column| (column.title.clone(), column.case_labels()))
            .collect()
    }

    pub(super) fn sources(&self) -> Vec<(String, MeasureSource)> {
        self.sources.clone()
    }

    /// The measures of one kind with missing repetitions in cases that have a value.
    pub(super) fn missing(&self, kind: ValueKind) -> Vec<(String, BTreeMap<String, usize>)> {
        missing(self.of_kind(kind))
    }

    /// The same for metrics.
    pub(super) fn missing_metrics(&self) -> Vec<(String, BTreeMap<String, usize>)> {
        missing(self.metrics.values())
    }

    fn of_kind(&self, kind: ValueKind) -> impl Iterator<Item = &MeasureColumn<'a>> {
        self.columns
            .iter()
            .filter(move |column| column.kind == kind)
    }
}

fn values<'c, 'a: 'c>(
    columns: impl Iterator<Item = &'c MeasureColumn<'a>>,
) -> BTreeMap<String, Values<'a>> {
    columns
        .map(|column| (column.title.clone(), column.values()))
        .collect()
}

fn gaps<'c, 'a: 'c>(
    columns: impl Iterator<Item = &'c MeasureColumn<'a>>,
) -> BTreeMap<String, Gaps<'a>> {
    columns
        .map(|column| (column.title.clone(), column.gaps()))
        .collect()
}

fn missing<'c, 'a: 'c>(
    columns: impl Iterator<Item = &'c MeasureColumn<'a>>,
) -> Vec<(String, BTreeMap<String, usize>)> {
    columns
        .map(|column| (column.title.clone(), column.missing()))
        .filter(|(_, missing)| !missing.is_empty())
        .collect()
}

/// A measure of a report.
#[derive(Clone, Debug)]
pub(crate) struct MeasureKey {
    pub(crate) unit: Unit,
    pub(crate) title: String,
    pub(crate) better: Direction,
}
