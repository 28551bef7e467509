//! The power of tests of pass rates.

use super::{Plan, Sides, fewest};
use crate::arithmetic::as_f64;
use crate::distribution::{binomial, regularized_beta, root, upper_quantile, upper_tail};
use crate::statistics::{NoStatistic, at_most};

/// Numbers of changed cases further from their mean than this many standard deviations are left out.
const REACH: f64 = 9.0;
/// How many numbers of cases the search tries beyond the first that is enough, because power does not rise at every step.
const AHEAD: usize = 64;
/// With more cases, power rises so evenly that the search does not look beyond.
const EVEN: usize = 10_000;
/// Up to so many changed cases, their probabilities are summed one by one, without rounding.
const SUMMED: usize = 1_000;
/// Numbers of cases above this are not searched.
const MOST: usize = 20_000_000;

/// The power of a test of two pass rates, from the share of cases whose verdict changes.
///
/// The power is exact: it is computed over all numbers of changed cases. It therefore does not rise with every single case, and
/// is below that of the usual approximation, which would promise too much for few cases.
///
/// Source: Duffy, "Asymptotic and Exact Power for the McNemar Test and Its Analogue with R Controls per Case", Biometrics 40 (1984).
///
/// ```
/// use evals_metrics::{PassRatePower, Plan, VerdictTest};
///
/// let plan = PassRatePower { discordant: 0.2, plan: Plan::default(), test: VerdictTest::Exact };
/// assert_eq!(format!("{:.3}", plan.detectable(100)?), "0.128");
/// assert_eq!(plan.cases(0.05)?, 658);
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PassRatePower {
    /// The share of cases whose verdict changes in either direction, above 0 and at most 1.
    pub discordant: f64,
    /// The error rates.
    pub plan: Plan,
    /// The test.
    pub test: VerdictTest,
}

/// A test of passes and failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerdictTest {
    /// Tango's score test, which is McNemar's test without a correction for continuity.
    Score,
    /// McNemar's exact test.
    Exact,
}

impl VerdictTest {
    /// The least two-sided p value that this many cases can give, if all of them changed in one direction.
    pub fn least_p_value(self, cases: usize) -> f64 {
        match self {
            Self::Score => 2.0 * upper_tail(as_f64(cases).sqrt()),
            Self::Exact => 2.0 * at_most(0, cases),
        }
    }
}

impl PassRatePower {
    /// The probability that the test reports a change of the pass rate by `difference` with n cases.
    ///
    /// # Errors
    ///
    /// Fails without cases, for levels or shares out of range, and for a difference above the share of changed cases, which is
    /// impossible.
    pub fn power(&self, difference: f64, n: usize) -> Result<f64, NoStatistic> {
        self.check(difference, n)?;
        Ok(self.at(difference.abs(), n))
    }

    /// The minimum detectable effect: the smallest change of the pass rate that the test reports with the planned power.
    ///
    /// # Errors
    ///
    /// As [`power`](Self::power), and if even the largest change possible, in which all changed cases move in one direction, has
    /// less power.
    pub fn detectable(&self, n: usize) -> Result<f64, NoStatistic> {
        self.check(0.0, n)?;
        if self.at(self.discordant, n) < self.plan.power {
            return Err(NoStatistic::OutOfReach);
        }
        Ok(root(
            |difference| self.at(difference, n) - self.plan.power,
            0.0,
            self.discordant,
        ))
    }

    /// The smallest change of the pass rate above [`discordant`](Self::discordant) that the test reports with the planned power. Such a change
    /// needs more changed cases than that share. They are as few as possible here: all of them move in one direction.
    ///
    /// # Errors
    ///
    /// As [`power`](Self::power), and if even a change of all cases has less power.
    ///
    /// ```
    /// use evals_metrics::{NoStatistic, PassRatePower, Plan, VerdictTest};
    ///
    /// let few = PassRatePower { discordant: 0.05, plan: Plan::default(), test: VerdictTest::Exact };
    /// assert_eq!(few.detectable(60), Err(NoStatistic::OutOfReach));
    /// assert_eq!(format!("{:.3}", few.detectable_above(60)?), "0.129");
    /// # Ok::<(), NoStatistic>(())
    /// ```
    pub fn detectable_above(&self, n: usize) -> Result<f64, NoStatistic> {
        self.check(0.0, n)?;
        let excess = |discordant: f64| {
            let shifted = Self {
                discordant,
                ..*self
            };
            shifted.at(discordant, n) - self.plan.power
        };
        if excess(1.0) < 0.0 {
            return Err(NoStatistic::OutOfReach);
        }
        if excess(self.discordant) >= 0.0 {
            return Ok(self.discordant);
        }
        Ok(root(excess, self.discordant, 1.0))
    }

    /// The number of cases from which on the test reports a change of the pass rate by `difference` with the planned power.
    ///
    /// # Errors
    ///
    /// As [`power`](Self::power), for a difference of 0, and where it takes more than 20 million cases.
    pub fn cases(&self, difference: f64) -> Result<usize, NoStatistic> {
        self.check(difference, 1)?;
        let difference = difference.abs();
        if difference <= 0.0 {
            return Err(NoStatistic::NoEffect);
        }
        let is_enough = |n: usize| self.at(difference, n) >= self.plan.power;
        let (mut few, mut enough) = (0, 1);
        while !is_enough(enough) {
            few = enough;
            enough *= 2;
            if enough > MOST {
                return Err(NoStatistic::OutOfReach);
            }
        }
        let enough = fewest(few, enough, is_enough);
        if enough > EVEN {
            return Ok(enough);
        }
        // The power falls a little wherever the critical number grows. The last such dip decides.
        let last_dip = (enough..enough + AHEAD).rev().find(|&n| !is_enough(n));
        Ok(last_dip.map_or(enough, |n| n + 1))
    }

    fn at(&self, difference: f64, n: usize) -> f64 {
        let mean = self.discordant * as_f64(n);
        let reach = REACH * (mean * (1.0 - self.discordant)).sqrt() + REACH;
        let gaining = (0.5 + difference / (2.0 * self.discordant)).min(1.0);
        let mut critical = None;
        let mut power = 0.0;
        for changed in 0..=n {
            let distance = as_f64(changed) - mean;
            if distance < -reach {
                continue;
            }
            if distance > reach {
                break;
            }
            let fewest = self.rejected(changed, critical);
            critical = fewest.map(|fewest| (fewest, changed));
            let Some(fewest) = fewest else { continue };
            let above = at_least(fewest, changed, gaining);
            let below = match self.plan.sides {
                Sides::One => 0.0,
                Sides::Two => at_least(fewest, changed, 1.0 - gaining),
            };
            power += binomial(changed, n, self.discordant) * (above + below);
        }
        power.min(1.0)
    }

    /// How many of the changed cases have to move in one direction for the test to report it. Starts at the number for one
    /// changed case fewer.
    fn rejected(&self, changed: usize, before: Option<(usize, usize)>) -> Option<usize> {
        let is_rejected = |most: usize| {
            if self.test == VerdictTest::Score {
                // The excess over half of the changed cases, in units of the standard deviation.
                let excess = (2.0 * as_f64(most) - as_f64(changed)) / as_f64(changed).sqrt();
                return excess >= upper_quantile(self.plan.tail());
            }
            let tail = if changed <= SUMMED {
                at_most(changed - most, changed)
            } else {
                at_least(most, changed, 0.5)
            };
            tail <= self.plan.tail()
        };
        match before {
            Some((most, of)) if of + 1 == changed => {
                if is_rejected(most) {
                    Some(most)
                } else {
                    Some(most + 1)
                }
            }
            _ => {
                if !is_rejected(changed) {
                    return None;
                }
                Some(fewest(changed / 2, changed, is_rejected))
            }
        }
    }

    fn check(&self, difference: f64, n: usize) -> Result<(), NoStatistic> {
        self.plan.check()?;
        if !(self.discordant > 0.0 && self.discordant <= 1.0) {
            return Err(NoStatistic::NothingChanged);
        }
        if !difference.is_finite() {
            return Err(NoStatistic::NotFinite);
        }
        if difference.abs() > self.discordant {
            return Err(NoStatistic::AboveDiscordant);
        }
        if n == 0 {
            return Err(NoStatistic::NoValues);
        }
        Ok(())
    }
}

/// The probability that a binomial variable is at least `k`.
fn at_least(k: usize, n: usize, probability: f64) -> f64 {
    if k == 0 {
        return 1.0;
    }
    regularized_beta(probability, as_f64(k), as_f64(n - k + 1))
}
