//! The power of a paired test of means.

use super::{Plan, Sides, fewest};
use crate::arithmetic::as_f64;
use crate::distribution::{noncentral_t_cdf, root, student_upper_quantile, upper_quantile};
use crate::statistics::NoStatistic;

/// Beyond this noncentrality the power is 1 in every digit.
const CERTAIN: f64 = 60.0;

/// The power of the paired t test, from the standard deviation of the differences.
///
/// The randomization test of means has nearly the same power. The figures assume differences that are close to normal, and a
/// standard deviation that is known; one that was estimated from few cases makes them estimates too. Equals statsmodels'
/// `TTestPower`.
///
/// ```
/// use evals_metrics::{MeanPower, Plan};
///
/// let plan = MeanPower { deviation: 0.3, plan: Plan::default() };
/// assert_eq!(format!("{:.3}", plan.detectable(100)?), "0.085");
/// assert_eq!(plan.cases(0.02)?, 1768);
/// assert_eq!(format!("{:.2}", plan.power(0.02, 100)?), "0.10");
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MeanPower {
    /// The standard deviation of the differences, above 0.
    pub deviation: f64,
    /// The error rates.
    pub plan: Plan,
}

impl MeanPower {
    /// The probability that the test reports a mean difference of this size with n cases.
    ///
    /// # Errors
    ///
    /// Fails below two cases, and for levels, a deviation or a difference out of range.
    pub fn power(&self, difference: f64, n: usize) -> Result<f64, NoStatistic> {
        self.check(n)?;
        if !difference.is_finite() {
            return Err(NoStatistic::NotFinite);
        }
        Ok(self.at(difference.abs(), as_f64(n)))
    }

    /// The minimum detectable effect: the smallest mean difference that the test reports with the planned power.
    ///
    /// # Errors
    ///
    /// As [`power`](Self::power).
    pub fn detectable(&self, n: usize) -> Result<f64, NoStatistic> {
        self.check(n)?;
        let n = as_f64(n);
        let unit = self.deviation / n.sqrt();
        let mut high = unit;
        while self.at(high, n) < self.plan.power {
            high *= 2.0;
        }
        Ok(root(
            |difference| self.at(difference, n) - self.plan.power,
            0.0,
            high,
        ))
    }

    /// The smallest number of cases with which the test reports a mean difference of this size with the planned power.
    ///
    /// # Errors
    ///
    /// Fails for a difference of 0, and for levels or a deviation out of range.
    pub fn cases(&self, difference: f64) -> Result<usize, NoStatistic> {
        self.check(2)?;
        let difference = difference.abs();
        if !difference.is_finite() {
            return Err(NoStatistic::NotFinite);
        }
        if difference <= 0.0 {
            return Err(NoStatistic::NoEffect);
        }
        let is_enough = |n: usize| self.at(difference, as_f64(n)) >= self.plan.power;
        let mut enough = 2;
        while !is_enough(enough) {
            enough = enough.checked_mul(2).ok_or(NoStatistic::OutOfReach)?;
        }
        Ok(fewest(enough / 2, enough, is_enough).max(2))
    }

    fn at(&self, difference: f64, n: f64) -> f64 {
        let degrees = n - 1.0;
        let noncentrality = difference / self.deviation * n.sqrt();
        let critical = if degrees > 1e7 {
            upper_quantile(self.plan.tail())
        } else {
            student_upper_quantile(self.plan.tail(), degrees)
        };
        if noncentrality > CERTAIN + 2.0 * critical {
            return 1.0;
        }
        let above = 1.0 - noncentral_t_cdf(critical, degrees, noncentrality);
        match self.plan.sides {
            Sides::One => above,
            Sides::Two => above + noncentral_t_cdf(-critical, degrees, noncentrality),
        }
    }

    fn check(&self, n: usize) -> Result<(), NoStatistic> {
        self.plan.check()?;
        if !(self.deviation > 0.0 && self.deviation.is_finite()) {
            return Err(NoStatistic::NoDeviation);
        }
        if n < 2 {
            return Err(NoStatistic::OneValue);
        }
        Ok(())
    }
}
