//! Agreement over a run when answers were drawn by the judge's verdict.

use std::f64::consts::FRAC_PI_2;

use super::{Agreement, Confusion, Estimate, NoAgreement, VerdictCounts};
use crate::arithmetic::share;
use crate::distribution::upper_quantile;
use crate::wilson::wilson_limits;
use crate::{Interval, IntervalMethod};

/// Steps of the search for the widest division of the error between the two strata.
const STEPS: u32 = 90;
/// Halvings of the best step. A step is an angle of 1°, so the limits are exact to far more digits than anybody reads.
const REFINEMENTS: u32 = 40;

/// The answers that a judge passed or failed: how many there are, and how many labelled ones people passed.
#[derive(Debug, Clone, Copy)]
struct Stratum {
    /// The stratum's share of the run.
    weight: f64,
    passed: usize,
    labelled: usize,
}

/// The two strata, the one that the judge passed first.
#[derive(Debug, Clone, Copy)]
struct Strata([Stratum; 2]);

/// A statistic of the shares of answers that people pass among those the judge passed, and among those it failed. It does not
/// fall with the first share, and does not rise with the second.
type Statistic = fn(&Strata, f64, f64) -> f64;

pub(super) fn agreement(confusion: &Confusion, run: VerdictCounts, level: f64) -> Agreement {
    let strata = Strata::new(confusion, run);
    let of = |statistic: Statistic, n: usize, none: NoAgreement| {
        let strata = strata?;
        if n == 0 {
            return Err(none);
        }
        Ok(strata.estimate(statistic, n, level))
    };
    let n = confusion.n();
    Agreement {
        n,
        agreement: of(Strata::agreement, n, NoAgreement::NoAnswers),
        kappa: of(Strata::kappa, n, NoAgreement::NoAnswers),
        true_pass_rate: of(
            Strata::true_pass_rate,
            confusion.people_pass(),
            NoAgreement::NoPasses,
        ),
        true_fail_rate: of(
            Strata::true_fail_rate,
            confusion.people_fail(),
            NoAgreement::NoFails,
        ),
    }
}

impl Strata {
    fn new(confusion: &Confusion, run: VerdictCounts) -> Result<Self, NoAgreement> {
        let (passed, failed) = (confusion.judge_passes(), confusion.judge_fails());
        match (passed, failed) {
            (0, 0) => return Err(NoAgreement::NoAnswers),
            (0, _) => return Err(NoAgreement::NoJudgePasses),
            (_, 0) => return Err(NoAgreement::NoJudgeFails),
            _ => {}
        }
        let answers = run.passes + run.fails;
        Ok(Self([
            Stratum {
                weight: share(run.passes, answers),
                passed: confusion.true_passes,
                labelled: passed,
            },
            Stratum {
                weight: share(run.fails, answers),
                passed: confusion.false_fails,
                labelled: failed,
            },
        ]))
    }

    fn agreement(&self, passed: f64, failed: f64) -> f64 {
        let [judge_passed, judge_failed] = self.0;
        judge_passed.weight * passed + judge_failed.weight * (1.0 - failed)
    }

    fn true_pass_rate(&self, passed: f64, failed: f64) -> f64 {
        let [judge_passed, judge_failed] = self.0;
        let both = judge_passed.weight * passed;
        both / (both + judge_failed.weight * failed)
    }

    fn true_fail_rate(&self, passed: f64, failed: f64) -> f64 {
        let [judge_passed, judge_failed] = self.0;
        let both = judge_failed.weight * (1.0 - failed);
        both / (both + judge_passed.weight * (1.0 - passed))
    }

    fn kappa(&self, passed: f64, failed: f64) -> f64 {
        let [judge_passed, judge_failed] = self.0;
        let people_pass = judge_passed.weight * passed + judge_failed.weight * failed;
        let expected =
            judge_passed.weight * people_pass + judge_failed.weight * (1.0 - people_pass);
        (self.agreement(passed, failed) - expected) / (1.0 - expected)
    }

    fn estimate(&self, statistic: Statistic, n: usize, level: f64) -> Estimate {
        let [judge_passed, judge_failed] = self.0;
        let value = statistic(self, judge_passed.share(), judge_failed.share());
        let z = upper_quantile((1.0 - level) / 2.0);
        let at = |angle: f64| {
            let (passed_low, passed_high) = judge_passed.limits(z * angle.sin());
            let (failed_low, failed_high) = judge_failed.limits(z * angle.cos());
            (
                statistic(self, passed_low, failed_high),
                statistic(self, passed_high, failed_low),
            )
        };
        Estimate {
            value,
            n,
            interval: Some(Interval {
                low: least(|angle| at(angle).0),
                high: -least(|angle| -at(angle).1),
                level,
                method: IntervalMethod::PropagatedWilson,
            }),
        }
    }
}

impl Stratum {
    fn share(&self) -> f64 {
        share(self.passed, self.labelled)
    }

    fn limits(&self, z: f64) -> (f64, f64) {
        wilson_limits(self.passed, self.labelled, z)
    }
}

/// The least value between 0 and a right angle.
fn least(value: impl Fn(f64) -> f64) -> f64 {
    let step = FRAC_PI_2 / f64::from(STEPS);
    let mut best = (value(0.0), 0.0);
    for angle in (1..=STEPS).map(|number| f64::from(number) * step) {
        let here = value(angle);
        if here < best.0 {
            best = (here, angle);
        }
    }
    let mut reach = step;
    for _ in 0..REFINEMENTS {
        reach /= 2.0;
        for angle in [best.1 - reach, best.1 + reach] {
            let angle = angle.clamp(0.0, FRAC_PI_2);
            let here = value(angle);
            if here < best.0 {
                best = (here, angle);
            }
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Xoshiro256PlusPlus;

    /// How many of `of` draws pass, each with a probability.
    fn draws(random: &mut Xoshiro256PlusPlus, of: usize, probability: f64) -> usize {
        const SCALE: usize = 1 << 20;
        let passes = |index: usize| share(index, SCALE) < probability;
        let pairs = (0..of).map(|_| random.index_pair(SCALE)[0]);
        pairs.filter(|&index| passes(index)).count()
    }

    /// Of the intervals of repeated samples, close to 95 % contain the true value, also for judges that are nearly always right
    /// and samples in which a stratum has no error.
    #[test]
    fn intervals_cover_the_truth() {
        let mut random = Xoshiro256PlusPlus::seeded(11);
        let settings = [
            (800, 200, 50, 0.9, 0.2),
            (950, 50, 40, 0.97, 0.05),
            (500, 500, 25, 0.6, 0.4),
        ];
        for (passes, fails, labelled, of_passed, of_failed) in settings {
            let run = VerdictCounts { passes, fails };
            let trials = 1_000;
            let mut covered = [0_u32; 4];
            let mut defined = [0_u32; 4];
            for _ in 0..trials {
                let true_passes = draws(&mut random, labelled, of_passed);
                let false_fails = draws(&mut random, labelled, of_failed);
                let confusion = Confusion {
                    true_passes,
                    false_passes: labelled - true_passes,
                    false_fails,
                    true_fails: labelled - false_fails,
                };
                let strata = Strata::new(&confusion, run).unwrap();
                let found = agreement(&confusion, run, 0.95);
                let statistics: [(Statistic, _); 4] = [
                    (Strata::agreement, found.agreement),
                    (Strata::kappa, found.kappa),
                    (Strata::true_pass_rate, found.true_pass_rate),
                    (Strata::true_fail_rate, found.true_fail_rate),
                ];
                for (place, (statistic, estimate)) in statistics.into_iter().enumerate() {
                    let Ok(estimate) = estimate else { continue };
                    let truth = statistic(&strata, of_passed, of_failed);
                    let interval = estimate.interval.unwrap();
                    assert!(interval.low <= estimate.value && estimate.value <= interval.high);
                    defined[place] += 1;
                    covered[place] += u32::from(interval.low <= truth && truth <= interval.high);
                }
            }
            for (covered, defined) in covered.into_iter().zip(defined) {
                let share = f64::from(covered) / f64::from(defined);
                assert!(
                    (0.93..=0.985).contains(&share),
                    "{share} of {defined} intervals cover at {of_passed} and {of_failed}"
                );
            }
        }
    }
}
