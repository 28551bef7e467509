//! Whether a measure dropped by more than a tolerance.

use std::num::NonZeroU32;

use evals_metrics::{Bootstrap, Interval, PairedTest, difference};

use super::power::Power;
use super::verdict::{GateVerdict, Strictness};
use crate::Direction;
use crate::summary::count;

/// How the differences of a measure are tested.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DropTest {
    pub(crate) test: PairedTest,
    /// Resamples of the interval's bootstrap.
    pub(crate) resamples: NonZeroU32,
}

/// The numbers behind the verdict on a drop, before the correction for several tests.
#[derive(Clone, Debug)]
pub(crate) struct DropNumbers {
    /// How far the mean got worse; below 0 if it got better.
    pub(crate) loss: f64,
    /// Whether no case changed.
    pub(crate) is_unchanged: bool,
    /// The interval of the mean difference, run minus baseline.
    pub(crate) interval: Option<Interval>,
    /// The end of the interval on the side of worse values, as a loss.
    pub(crate) greatest_loss: Option<f64>,
}

/// Why a drop has its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropReason {
    /// No case changed.
    Unchanged,
    /// Significant and larger than the tolerance.
    Dropped,
    /// The interval excludes drops above the tolerance.
    Excluded,
    /// Larger than the tolerance, but chance alone could explain it.
    NotSignificant,
    /// Significant, but within the tolerance.
    WithinTolerance,
    /// Neither significant nor larger than the tolerance, and the test would probably have seen a drop of that size.
    Neither,
    /// The test cannot see a drop of the size of the tolerance.
    NoPower,
    /// Too few pairs, or no spread among them: nothing is known about power.
    NoSpread,
    /// So few pairs cannot be significant, whatever they show.
    OutOfReach,
    /// The interval does not exclude drops above the tolerance.
    NotExcluded,
}

impl DropTest {
    /// The numbers of at least one difference, run minus baseline.
    pub(crate) fn numbers(&self, differences: &[f64], better: Direction) -> DropNumbers {
        let bootstrap = Bootstrap {
            resamples: self.resamples,
            level: self.test.level,
            seed: self.test.seed,
        };
        let interval = bootstrap.percentile_interval(differences);
        DropNumbers::of(differences, better, interval)
    }
}

impl DropNumbers {
    pub(crate) fn of(differences: &[f64], better: Direction, interval: Option<Interval>) -> Self {
        let sign = sign(better);
        let mean = differences.iter().sum::<f64>() / count(differences.len().max(1));
        // An interval may not contain its estimate where the differences are very skewed.
        let loss = -sign * mean;
        let greatest_loss = interval.map(|interval| match better {
            Direction::Lower => interval.high.max(loss),
            Direction::Higher | Direction::Unknown => (-interval.low).max(loss),
        });
        Self {
            loss,
            is_unchanged: differences.iter().all(|value| value.abs() <= 0.0),
            interval,
            greatest_loss,
        }
    }

    /// Whether the drop is larger than the tolerance by more than rounding.
    pub(crate) fn exceeds(&self, tolerance: f64) -> bool {
        difference(tolerance, self.loss) > 0.0
    }

    /// The verdict. `is_significant` says whether the difference, in either direction, is; `power` is that of the test.
    pub(crate) fn verdict(
        &self,
        strictness: Strictness,
        tolerance: f64,
        is_significant: bool,
        power: Option<Power>,
    ) -> (GateVerdict, DropReason) {
        let is_worse = is_significant && self.loss > 0.0;
        let excluded = self
            .greatest_loss
            .is_some_and(|loss| difference(tolerance, loss) <= 0.0);
        if self.is_unchanged {
            return (GateVerdict::Passed, DropReason::Unchanged);
        }
        if is_worse && self.exceeds(tolerance) {
            return (GateVerdict::Failed, DropReason::Dropped);
        }
        if excluded {
            return (GateVerdict::Passed, DropReason::Excluded);
        }
        if strictness == Strictness::Strict {
            return (GateVerdict::Failed, DropReason::NotExcluded);
        }
        let Some(power) = power else {
            return (GateVerdict::CannotTell, DropReason::NoSpread);
        };
        let Some(detectable) = power.detectable() else {
            return (GateVerdict::CannotTell, DropReason::OutOfReach);
        };
        // A tolerance of 0 accepts what the test cannot see: no test sees every drop.
        if tolerance > 0.0 && detectable > tolerance {
            return (GateVerdict::CannotTell, DropReason::NoPower);
        }
        let reason = if self.exceeds(tolerance) {
            DropReason::NotSignificant
        } else if is_worse {
            DropReason::WithinTolerance
        } else {
            DropReason::Neither
        };
        (GateVerdict::Passed, reason)
    }
}

/// The sign of an improvement. A measure without a known direction has no drop; a caller has refused it before.
pub(crate) fn sign(better: Direction) -> f64 {
    match better {
        Direction::Higher | Direction::Unknown => 1.0,
        Direction::Lower => -1.0,
    }
}
