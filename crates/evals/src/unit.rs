//! The units of measures, and how their numbers are printed.

use evals_metrics::{Interval, Scale};
use serde::{Deserialize, Serialize};

use crate::number;

/// The unit of a measure's numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    /// A score.
    Score,
    /// The share of passed assertions.
    PassRate,
    /// A pass rate that counts failures, or the share of cases that were scored.
    Share,
    /// A number that the task recorded.
    Metric,
    /// Seconds.
    Seconds,
}

impl Unit {
    /// The values that a measure in this unit can have. A score counts as a share while all its values are from 0 to 1.
    pub(crate) fn scale(self) -> Scale {
        match self {
            Self::PassRate | Self::Share | Self::Score => Scale::Share,
            Self::Metric | Self::Seconds => Scale::Amount,
        }
    }

    /// Prints a value for people.
    pub fn print(self, value: f64) -> String {
        match self {
            Self::Score | Self::PassRate | Self::Share => number::score(value),
            Self::Metric => number::metric(value),
            Self::Seconds => number::duration(value),
        }
    }

    /// Prints a difference with its sign. A difference that rounds to 0 gets no sign.
    pub fn print_signed(self, difference: f64) -> String {
        let printed = self.print(difference);
        let is_zero = !printed.contains(|digit: char| ('1'..='9').contains(&digit));
        if difference > 0.0 && !is_zero {
            format!("+{printed}")
        } else {
            printed
        }
    }

    /// Prints an interval.
    pub(crate) fn range(self, interval: &Interval) -> String {
        number::range(interval, |end| self.print(end))
    }

    /// Prints the interval of a difference.
    pub(crate) fn signed_range(self, interval: &Interval) -> String {
        number::range(interval, |end| self.print_signed(end))
    }

    /// The value after rounding for print.
    pub(crate) fn rounded(self, value: f64) -> f64 {
        match self {
            Self::Score | Self::PassRate | Self::Share => number::rounded_score(value),
            Self::Metric => value,
            Self::Seconds => number::rounded_duration(value),
        }
    }
}
