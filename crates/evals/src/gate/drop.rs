//! Whether a measure dropped by more than a tolerance.

use evals_metrics::{PairedDifference, PairedTest, Scale, difference};

use super::power::Sight;
use super::verdict::{GateVerdict, Strictness};
use crate::Direction;
use crate::pair_testing::Sensitivity;

/// The change of a measure in the cases that have a value in both runs, with the statistics that need no correction for several tests.
#[derive(Clone, Debug)]
pub(crate) struct Drop {
    /// Run minus baseline.
    pub(crate) change: PairedDifference,
    /// How far the mean got worse; below 0 if it got better.
    pub(crate) loss: f64,
    /// The end of the interval on the side of worse values, as a loss.
    pub(crate) greatest_loss: Option<f64>,
    pub(crate) sensitivity: Sensitivity,
    is_uniform: bool,
}

/// Why a drop has its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DropReason {
    /// No case changed.
    Unchanged,
    /// Significant and larger than the tolerance.
    Dropped,
    /// No case changed, and the interval does not exclude drops above the tolerance.
    FewUnchanged,
    /// The interval excludes drops above the tolerance.
    Excluded,
    /// All cases changed by the same amount, which is significant and not a drop larger than the tolerance.
    Uniform,
    /// Larger than the tolerance, but chance alone could explain it.
    NotSignificant,
    /// Significant, but within the tolerance.
    WithinTolerance,
    /// Neither significant nor larger than the tolerance, and the test would probably have seen a drop of that size.
    Neither,
    /// The test cannot see a drop of the size of the tolerance.
    NoPower,
    /// The differences are equal, so nothing is known about how changes scatter.
    NoSpread,
    /// So few pairs cannot be significant, whatever they show.
    FewCases,
    /// So few cases changed that nothing is known about how changes scatter.
    FewChanged,
    /// The interval does not exclude drops above the tolerance.
    NotExcluded,
    /// All differences are equal, and the gate does not know the scale of the measure, so other cases could lose any amount.
    NoBound,
}

impl Drop {
    /// Reads pairs of values: the baseline's and the run's, of a measure on this scale. `clusters` has the number of each pair's cluster, if
    /// cases come in clusters. `None` without a pair, and for values that no test can
    /// judge, because their difference is beyond the range of numbers.
    pub(crate) fn of(
        pairs: &[(f64, f64)],
        clusters: Option<&[usize]>,
        better: Direction,
        scale: Scale,
        test: &PairedTest,
    ) -> Option<Self> {
        let change = test.compare(pairs, clusters, scale)?;
        let differences = pairs.iter();
        let mut differences = differences.map(|(before, after)| difference(*before, *after));
        let first = differences.next()?;
        let greatest_loss = change.interval.map(|interval| match better {
            Direction::Lower => interval.high,
            Direction::Higher | Direction::Unknown => -interval.low,
        });
        Some(Self {
            loss: -sign(better) * change.difference,
            greatest_loss,
            sensitivity: Sensitivity::of(pairs, clusters, test.method),
            is_uniform: differences.all(|other| difference(first, other).abs() <= 0.0),
            change,
        })
    }

    /// Whether no case changed.
    pub(crate) fn is_unchanged(&self) -> bool {
        self.change.equal() == self.change.n
    }

    /// Whether the mean got worse by more than the tolerance. The order of additions may move a mean by a rounding error.
    pub(crate) fn exceeds(&self, tolerance: f64) -> bool {
        difference(tolerance, self.loss) > 0.0
    }

    /// The verdict. `is_significant` says whether the difference, in either direction, is; `sight` is what the test can see.
    pub(crate) fn verdict(
        &self,
        strictness: Strictness,
        tolerance: f64,
        is_significant: bool,
        sight: impl FnOnce() -> Sight,
    ) -> (GateVerdict, DropReason) {
        let is_strict = strictness == Strictness::Strict;
        if self.is_unchanged() && !is_strict {
            // No test sees every drop, so a tolerance of 0 accepts what no case shows.
            let excludes = |loss| tolerance <= 0.0 || difference(tolerance, loss) <= 0.0;
            return match self.greatest_loss {
                Some(loss) if excludes(loss) => (GateVerdict::Passed, DropReason::Unchanged),
                None if tolerance <= 0.0 => (GateVerdict::Passed, DropReason::Unchanged),
                Some(_) => (GateVerdict::CannotTell, DropReason::FewUnchanged),
                None => (GateVerdict::CannotTell, DropReason::NoBound),
            };
        }
        let is_worse = is_significant && self.loss > 0.0;
        if is_worse && self.exceeds(tolerance) {
            return (GateVerdict::Failed, DropReason::Dropped);
        }
        // So many equal differences cannot be chance.
        if self.is_uniform && is_significant && !is_strict {
            return (GateVerdict::Passed, DropReason::Uniform);
        }
        match self.greatest_loss {
            Some(loss) if difference(tolerance, loss) <= 0.0 => {
                return (GateVerdict::Passed, DropReason::Excluded);
            }
            Some(_) if is_strict => return (GateVerdict::Failed, DropReason::NotExcluded),
            None if is_strict => return (GateVerdict::CannotTell, DropReason::NoBound),
            Some(_) | None => {}
        }
        let detectable = match sight() {
            Sight::Drop(size) => size,
            Sight::FewCases => return (GateVerdict::CannotTell, DropReason::FewCases),
            Sight::FewChanged if tolerance > 0.0 => {
                return (GateVerdict::CannotTell, DropReason::FewChanged);
            }
            Sight::FewChanged => 0.0,
            Sight::NoSpread => return (GateVerdict::CannotTell, DropReason::NoSpread),
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
    better.gain().unwrap_or(1.0)
}

#[cfg(test)]
mod tests {
    use evals_metrics::Xoshiro256PlusPlus;

    use super::*;
    use evals_metrics::as_f64;

    /// The tolerance of simulated gates, which is their true drop too.
    const TOLERANCE: f64 = 0.05;

    /// The share of simulated gates of `cases` cases that pass under `--strict`; `pair` draws the two values of a case.
    fn passing(cases: usize, mut pair: impl FnMut() -> (f64, f64)) -> f64 {
        const SIMULATIONS: usize = 8_000;
        let passes = (0..SIMULATIONS).filter(|_| {
            let pairs: Vec<(f64, f64)> = (0..cases).map(|_| pair()).collect();
            let drop = Drop::of(
                &pairs,
                None,
                Direction::Higher,
                Scale::Share,
                &PairedTest::default(),
            )
            .unwrap();
            let sight = || Sight::NoSpread;
            let (verdict, _) = drop.verdict(Strictness::Strict, TOLERANCE, false, sight);
            verdict == GateVerdict::Passed
        });
        as_f64(passes.count()) / as_f64(SIMULATIONS)
    }

    /// The share of simulated gates that wrongly pass a drop of a score.
    fn wrong_passes(cases: usize) -> f64 {
        let mut random = Xoshiro256PlusPlus::seeded(5);
        // The sum of three uniform numbers is bounded and close to normal, like differences of means of several measures.
        let mut noise = || 0.2 * (random.share() + random.share() + random.share() - 1.5);
        passing(cases, || (0.5, 0.5 - TOLERANCE + noise()))
    }

    #[test]
    fn strict_passes_a_drop_of_the_tolerance_as_seldom_as_its_level_says() {
        for cases in [2, 5, 10, 30] {
            let share = wrong_passes(cases);
            // One side of 95 %, with four standard errors of the simulation: 4 * sqrt(0.025 * 0.975 / 8,000) = 0.007.
            assert!((share - 0.025).abs() < 0.007, "{cases} cases: {share}");
        }
    }

    /// The share of simulated gates that wrongly pass a drop of a pass rate. The baseline passes cases at `pass_rate`. The run answers the
    /// share `answered_anew` of the cases again at random, and then breaks some passes.
    fn wrong_passes_of_verdicts(cases: usize, pass_rate: f64, answered_anew: f64) -> f64 {
        let mut random = Xoshiro256PlusPlus::seeded(6);
        passing(cases, || {
            let before = random.share() < pass_rate;
            let is_new = random.share() < answered_anew;
            let after = if is_new {
                random.share() < pass_rate
            } else {
                before
            };
            // Breaking this share of the passes lowers the pass rate by the tolerance.
            let is_broken = random.share() < TOLERANCE / pass_rate;
            let value = |is_pass: bool| f64::from(u8::from(is_pass));
            (value(before), value(after && !is_broken))
        })
    }

    #[test]
    fn strict_seldom_passes_a_drop_of_a_pass_rate_by_the_tolerance() {
        for cases in [30, 100, 300] {
            for pass_rate in [0.5, 0.9] {
                for answered_anew in [0.0, 0.1] {
                    let share = wrong_passes_of_verdicts(cases, pass_rate, answered_anew);
                    // One side of 95 %, with four standard errors of the simulation, as above. The share is often much lower, because a small
                    // number of changed verdicts gives only few intervals. With Student's t it would be 0.065 for 300 cases of which few change.
                    assert!(
                        share < 0.032,
                        "{cases} cases, {pass_rate}, {answered_anew}: {share}"
                    );
                }
            }
        }
    }

    #[test]
    fn two_cases_that_nearly_agree_exclude_little() {
        // The percentile bootstrap of two values spans just these two, and would exclude a drop of 0.02.
        let pairs = [(0.5, 0.49), (0.5, 0.488)];
        let drop = Drop::of(
            &pairs,
            None,
            Direction::Higher,
            Scale::Share,
            &PairedTest::default(),
        );
        let drop = drop.unwrap();
        // t = 12.706 with one degree of freedom: 0.011 + 12.706 * 0.001.
        assert!((drop.greatest_loss.unwrap() - 0.023_706).abs() < 1e-6);
        let (verdict, reason) = drop.verdict(Strictness::Strict, 0.02, false, || Sight::NoSpread);
        assert_eq!(
            (verdict, reason),
            (GateVerdict::Failed, DropReason::NotExcluded)
        );
    }
}
