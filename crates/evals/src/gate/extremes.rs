//! The worst and the best value of a measure, as far as they are known.

use evals_metrics::Scale;

use super::rule::{Rule, Subject};
use crate::{Direction, SnapshotMeasure, Unit};

/// The worst and the best value of a measure.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extremes {
    /// The values that the definition of the measure allows. The values of a run do not prove that.
    pub(super) scale: Scale,
    /// The lowest value: 0 of a share and of scores that are all from 0 to 1, otherwise the lowest one in the run and its baseline.
    lowest: f64,
    /// The highest value, likewise.
    highest: f64,
}

impl Extremes {
    /// Those of a measure of the subject's run.
    pub(super) fn of(measure: &SnapshotMeasure, subject: &Subject<'_>) -> Self {
        let sides = [Some(subject.run), subject.baseline].into_iter().flatten();
        let values: Vec<f64> = sides
            .flat_map(|side| {
                let place = side.measures.iter().position(|it| it.is(measure));
                place.map_or_else(Vec::new, |place| side.numbers(place))
            })
            .collect();
        let are_shares = values.iter().all(|value| (0.0..=1.0).contains(value));
        let scale = measure.defined_scale();
        // Enough to assume a value for a failed case, but not to refuse a rule: other runs may have other values.
        let is_bounded = scale == Scale::Share || are_shares && measure.unit == Unit::Score;
        let (start, end) = if is_bounded {
            (0.0, 1.0)
        } else {
            (f64::INFINITY, f64::NEG_INFINITY)
        };
        Self {
            scale,
            lowest: values.iter().copied().fold(start, f64::min),
            highest: values.iter().copied().fold(end, f64::max),
        }
    }

    /// The worst value where this direction is better.
    pub(super) fn worst(&self, better: Direction) -> f64 {
        match better {
            Direction::Higher | Direction::Unknown => self.lowest,
            Direction::Lower => self.highest,
        }
    }

    /// The best value where this direction is better.
    pub(super) fn best(&self, better: Direction) -> f64 {
        match better {
            Direction::Higher | Direction::Unknown => self.highest,
            Direction::Lower => self.lowest,
        }
    }

    /// The value that does most against a floor or a ceiling.
    pub(super) fn worst_for(&self, rule: &Rule) -> f64 {
        match rule {
            Rule::Min { .. } | Rule::MaxDrop { .. } => self.lowest,
            Rule::Max { .. } => self.highest,
        }
    }
}
