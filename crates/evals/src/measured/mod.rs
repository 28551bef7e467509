//! The values of each measure of two or more reports, and the tests of their pairs: what a [change](crate::Change) and
//! [standings](crate::Standings) have in common.

mod tested;
mod values;

use std::collections::BTreeMap;

use evals_metrics::{PairedTest, Scale};

pub use tested::PairOutcome;
pub(crate) use tested::{on_all_cores, tested};
pub use values::Titled;
pub(crate) use values::{COST, Compared, costs, means_of_cases, measured};

use crate::pair_testing::Tested;
use crate::{CaseId, Direction, Unit};

/// A measure before its tests: one value for each report and case.
#[derive(Clone, Debug)]
pub(crate) struct UntestedMeasure<'r> {
    pub(crate) measure: String,
    pub(crate) mean_title: Option<String>,
    pub(crate) unit: Unit,
    pub(crate) better: Direction,
    /// Cases without a value in any report, by reason.
    pub(crate) excluded: BTreeMap<String, usize>,
    /// The cases that have a value in each of its reports.
    pub(crate) cases: Vec<&'r CaseId>,
    /// The positions of the reports that have the measure.
    pub(crate) reports: Vec<usize>,
    /// The values of each of these reports, in the order of the cases.
    pub(crate) values: Vec<Vec<f64>>,
    /// For each of these reports, the cases left out because it has no value where another has one.
    pub(crate) without_value: Vec<usize>,
    /// The number of each case's cluster, if cases come in clusters.
    pub(crate) clusters: Option<Vec<usize>>,
}

impl UntestedMeasure<'_> {
    pub(crate) fn n(&self) -> usize {
        self.cases.len()
    }

    /// The measure over the cases at these places.
    pub(crate) fn among(&self, places: &[usize]) -> Self {
        let clusters = self.clusters.as_deref();
        Self {
            clusters: clusters.map(|all| at(all, places)),
            values: self.values.iter().map(|all| at(all, places)).collect(),
            cases: at(&self.cases, places),
            measure: self.measure.clone(),
            mean_title: self.mean_title.clone(),
            excluded: self.excluded.clone(),
            reports: self.reports.clone(),
            without_value: self.without_value.clone(),
            ..*self
        }
    }

    /// The measure of some of its reports, by their positions.
    pub(crate) fn of_reports(&self, reports: &[usize]) -> Self {
        let wanted = self.reports.iter().zip(&self.values);
        let wanted = wanted.filter(|(report, _)| reports.contains(report));
        let (reports, values) = wanted.map(|(report, of)| (*report, of.clone())).unzip();
        Self {
            reports,
            values,
            ..self.clone()
        }
    }

    /// The place of the headline measure: the first with a known better direction.
    pub(crate) fn headline(measures: &[Self]) -> Option<usize> {
        measures
            .iter()
            .position(|it| it.better != Direction::Unknown)
    }

    /// Every pair of places among the reports that have the measure.
    pub(crate) fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + use<> {
        let count = self.reports.len();
        (0..count).flat_map(move |first| (first + 1..count).map(move |second| (first, second)))
    }

    /// The values that the measure can have.
    pub(crate) fn scale(&self) -> Scale {
        self.unit.scale()
    }

    pub(crate) fn test(
        &self,
        (first, second): (usize, usize),
        test: &PairedTest,
    ) -> Option<Tested> {
        let pairs: Vec<(f64, f64)> = self.pairs_of(first, second).collect();
        Tested::of(&pairs, self.clusters.as_deref(), self.scale(), test)
    }

    /// The values of each case in the reports at two places.
    pub(crate) fn pairs_of(&self, first: usize, second: usize) -> impl Iterator<Item = (f64, f64)> {
        let pairs = self.values[first].iter().zip(&self.values[second]);
        pairs.map(|(first, second)| (*first, *second))
    }
}

fn at<T: Copy>(all: &[T], places: &[usize]) -> Vec<T> {
    places.iter().map(|place| all[*place]).collect()
}
