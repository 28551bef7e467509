//! The values that a measure can have, as far as they are known.

use super::names::MeasureNames;
use super::rule::Rule;
use super::subject::Subject;
use crate::{Direction, SnapshotMeasure, Unit};

/// The values that a measure can have.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Scale {
    /// Whether the definition of the measure allows only values from 0 to 1. The values of a run do not prove that.
    pub(super) is_share: bool,
    /// The lowest value: 0 of a share and of scores that are all from 0 to 1, otherwise the lowest one in the run and its baseline.
    lowest: f64,
    /// The highest value, likewise.
    highest: f64,
}

impl Scale {
    /// The scale of a measure of the subject's run. Pass rates are shares, and so are scores that `names` knows, such as rank measures.
    pub(super) fn of(
        measure: &SnapshotMeasure,
        subject: &Subject<'_>,
        names: &dyn MeasureNames,
    ) -> Self {
        let sides = [Some(subject.run), subject.baseline].into_iter().flatten();
        let values: Vec<f64> = sides
            .flat_map(|side| {
                let place = side.measures.iter().position(|it| it.is(measure));
                place.map_or_else(Vec::new, |place| side.numbers(place))
            })
            .collect();
        let are_shares = values.iter().all(|value| (0.0..=1.0).contains(value));
        let is_share = match measure.unit {
            Unit::PassRate | Unit::Share => true,
            Unit::Score => names.is_share(&measure.title),
            Unit::Metric | Unit::Seconds => false,
        };
        // Enough to assume a value for a failed case, but not to refuse a rule: other runs may have other values.
        let is_bounded = is_share || are_shares && measure.unit == Unit::Score;
        let (start, end) = if is_bounded {
            (0.0, 1.0)
        } else {
            (f64::INFINITY, f64::NEG_INFINITY)
        };
        Self {
            is_share,
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
