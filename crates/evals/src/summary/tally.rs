//! Sorts the outcomes of all cases into columns, one for each measure.

use std::collections::{BTreeMap, BTreeSet};

use super::column::{Gap, MeasureColumn};
use super::index::{Index, Places};
use super::labels::Labels;
use super::shown::evaluator;
use super::{MeasureSource, PassRate, ratio};
use crate::{CaseId, CaseOutcome, CaseReport, Direction, Domain, Unit, Value, ValueKind};

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
            let column =
                MeasureColumn::new(name.clone(), ValueKind::Score, Direction::Unknown, None);
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
        for case in cases {
            tally.add(case, &places);
            let columns = tally.columns.iter_mut().chain(tally.metrics.values_mut());
            columns.for_each(|column| column.close_repetition(&case.id));
        }
        tally
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
            self.add_value(position, &case.id, outcome);
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
                column.add_number(&case.id, *value);
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
            let evaluator = column.evaluator.as_ref();
            match evaluator.and_then(|evaluator| missed.get(evaluator)) {
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

    fn add_value(&mut self, position: usize, id: &'a CaseId, outcome: &'a CaseOutcome) {
        let column = &mut self.columns[position];
        match &outcome.value {
            Value::Score(score) => column.add_number(id, *score),
            Value::Label(label) => column.add_label(id, label),
            Value::Undefined => {
                let reason = outcome.reason.as_deref().unwrap_or("undefined");
                column.exclude_covered(Gap::Undefined(reason));
            }
            Value::Assertion(passed) => {
                column.add_assertion(id, *passed);
                self.asserted += 1;
                self.passed += usize::from(*passed);
            }
        }
    }

    pub(super) fn pass_rate(&self) -> PassRate {
        let mut excluded: BTreeMap<String, usize> = BTreeMap::new();
        let valueless = self
            .each(Unit::PassRate, MeasureColumn::valueless)
            .into_iter();
        for (reason, count) in valueless.flat_map(|(_, by_reason)| by_reason) {
            *excluded.entry(reason).or_default() += count;
        }
        PassRate {
            value: ratio(self.passed, self.asserted),
            passed: self.passed,
            n: self.asserted,
            excluded,
        }
    }

    /// The measures with their units: those of evaluators in the order in which they return them, then metrics. Labels have no unit.
    pub(super) fn measures(&self) -> impl Iterator<Item = (Unit, &MeasureColumn<'a>)> {
        let evaluated = self.columns.iter().filter_map(|column| {
            let unit = match column.kind {
                ValueKind::Score => Unit::Score,
                ValueKind::Assertion => Unit::PassRate,
                ValueKind::Label => return None,
            };
            Some((unit, column))
        });
        let metrics = self.metrics.values().map(|column| (Unit::Metric, column));
        evaluated.chain(metrics)
    }

    /// Something about each measure in this unit, by its title.
    pub(super) fn each<T>(
        &self,
        unit: Unit,
        get: impl Fn(&MeasureColumn<'a>) -> T,
    ) -> Vec<(String, T)> {
        let measures = self.measures().filter(|(own, _)| *own == unit);
        measures
            .map(|(_, column)| (column.title.clone(), get(column)))
            .collect()
    }

    /// The labels of each case, for the measures that are labels.
    pub(super) fn labels(&self) -> impl Iterator<Item = (String, Labels<'a>)> {
        let columns = self.columns.iter();
        let labels = columns.filter(|column| column.kind == ValueKind::Label);
        labels.map(|column| (column.title.clone(), column.labels()))
    }

    pub(super) fn sources(&self) -> Vec<(String, MeasureSource)> {
        self.sources.clone()
    }

    /// The measures in this unit with missing repetitions in cases that have a value.
    pub(super) fn missing(&self, unit: Unit) -> Vec<(String, BTreeMap<String, usize>)> {
        let mut missing = self.each(unit, MeasureColumn::missing);
        missing.retain(|(_, reasons)| !reasons.is_empty());
        missing
    }
}
