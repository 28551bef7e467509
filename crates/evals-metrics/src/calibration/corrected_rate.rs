//! A corrected pass rate.

use serde::{Deserialize, Serialize};

use crate::{Estimate, Interval};

/// A pass rate as the judge reports it, and corrected by labels of people.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CorrectedRate {
    /// The judge's pass rate with Wilson's interval. Its n is the number of verdicts.
    pub raw: Estimate,
    /// The share of answers that people would pass. 0 or 1 if the formula gives less or more.
    pub value: f64,
    /// The confidence interval, which names the method.
    pub interval: Interval,
    /// The number of labelled answers.
    pub labels: usize,
    /// About how many labels, drawn in the same way, would give an interval of half the width. `None` if no number would,
    /// because the run itself is too small.
    pub labels_for_half: Option<usize>,
}

/// The variance of an estimate: the part that more labels shrink, and the rest.
#[derive(Debug, Clone, Copy)]
pub(super) struct Variance {
    pub(super) labels: f64,
    pub(super) run: f64,
}

impl Variance {
    pub(super) fn total(&self) -> f64 {
        self.labels + self.run
    }

    /// About how many labels instead of `labels` would halve the standard error.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the number is positive and checked to be small"
    )]
    pub(super) fn labels_for_half(&self, labels: usize) -> Option<usize> {
        const MOST: f64 = 1e15;
        let left = self.total() / 4.0 - self.run;
        let number = (crate::arithmetic::as_f64(labels) * self.labels / left).ceil();
        (left > 0.0 && number <= MOST).then_some(number as usize)
    }
}
