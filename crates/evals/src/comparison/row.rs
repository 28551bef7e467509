//! One line of a comparison.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use evals_metrics::{Interval, Mean};
use serde::{Deserialize, Serialize};

use crate::{Direction, Unit};

/// One measure in all reports.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Row {
    /// Name of the measure; for a latency the stage and the percentile, as in `embed p50`.
    pub measure: String,
    /// The name of the measure's mean in tables, where it differs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_title: Option<String>,
    /// The unit of the numbers.
    pub unit: Unit,
    /// Which direction is better.
    pub better: Direction,
    /// One cell for each report.
    pub cells: Vec<Cell>,
    /// The position of the best report, unless there is a tie.
    pub winner: Option<usize>,
}

/// One measure in one report.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cell {
    /// The report has a value.
    Value {
        /// The mean or percentile.
        value: f64,
        /// The confidence interval of a mean.
        interval: Option<Interval>,
        /// The number of cases or samples.
        n: usize,
        /// How many cases a mean excludes, by reason.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        excluded: BTreeMap<String, usize>,
    },
    /// The report has the measure, but it is undefined.
    Undefined {
        /// The reasons, where known.
        reasons: Vec<String>,
    },
    /// The report does not have the measure at all.
    Missing,
}

impl Row {
    pub(super) fn new(measure: String, unit: Unit, better: Direction, cells: Vec<Cell>) -> Self {
        Self {
            winner: winner(unit, better, &cells),
            ..Self::without_winner(measure, unit, better, cells)
        }
    }

    pub(super) fn without_winner(
        measure: String,
        unit: Unit,
        better: Direction,
        cells: Vec<Cell>,
    ) -> Self {
        Self {
            measure,
            mean_title: None,
            unit,
            better,
            cells,
            winner: None,
        }
    }

    /// The row's title in tables.
    pub fn title(&self) -> &str {
        self.mean_title.as_deref().unwrap_or(&self.measure)
    }
}

impl Cell {
    /// The cell of a mean.
    pub(super) fn mean(mean: &Mean) -> Self {
        match mean.value.filter(|value| value.is_finite()) {
            Some(value) => Self::Value {
                value,
                interval: mean
                    .interval
                    .filter(|interval| interval.low.is_finite() && interval.high.is_finite()),
                n: mean.n,
                excluded: mean.excluded.clone(),
            },
            None => Self::Undefined {
                reasons: mean.excluded.keys().cloned().collect(),
            },
        }
    }

    /// The number of cases or samples behind the value, where there is one.
    pub fn n(&self) -> Option<usize> {
        match self {
            Self::Value { n, .. } => Some(*n),
            Self::Undefined { .. } | Self::Missing => None,
        }
    }

    /// The value, where there is one.
    pub fn value(&self) -> Option<f64> {
        match self {
            Self::Value { value, .. } => Some(*value),
            Self::Undefined { .. } | Self::Missing => None,
        }
    }
}

fn winner(unit: Unit, better: Direction, cells: &[Cell]) -> Option<usize> {
    let mut values: Vec<(usize, f64)> = cells
        .iter()
        .enumerate()
        .filter_map(|(i, cell)| Some((i, unit.rounded(cell.value()?))))
        .collect();
    // Means over different numbers of cases are not comparable.
    let mut sizes = cells.iter().filter_map(Cell::n);
    let first_size = sizes.next();
    if unit != Unit::Seconds && sizes.any(|size| Some(size) != first_size) {
        return None;
    }
    match better {
        Direction::Higher => values.sort_by(|(_, left), (_, right)| right.total_cmp(left)),
        Direction::Lower => values.sort_by(|(_, left), (_, right)| left.total_cmp(right)),
        Direction::Unknown => return None,
    }
    match values[..] {
        [(best, first), (_, second), ..] if !is_equal(first, second) => Some(best),
        _ => None,
    }
}

/// Unlike `total_cmp`, this treats 0 and -0 as equal.
fn is_equal(left: f64, right: f64) -> bool {
    left.partial_cmp(&right).is_some_and(Ordering::is_eq)
}
