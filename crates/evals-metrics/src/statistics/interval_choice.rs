//! The method of a mean's interval as a choice.

use serde::{Deserialize, Serialize};

use super::NoStatistic;
use super::bca::bca_interval;
use super::bootstrap_t::studentized_interval;
use super::moments::{Moments, check_finite, check_level};
use crate::arithmetic::as_f64;
use crate::bootstrap::passes;
use crate::distribution::{beta_quantile, student_upper_quantile};
use crate::wilson::wilson_interval;
use crate::{Bootstrap, Interval, IntervalMethod};

/// How to compute the confidence interval of a mean. Serialises in kebab-case.
///
/// Reports choose by themselves: see [`mean_interval`](super::mean_interval).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum IntervalChoice {
    /// The percentile bootstrap.
    Percentile,
    /// The bias-corrected and accelerated bootstrap, which adapts to skewed values.
    Bca,
    /// The studentized bootstrap (bootstrap-t), for amounts that are very skewed, such as costs.
    BootstrapT,
    /// Student's t.
    StudentT,
    /// Wilson's score interval, for values that are all 0 or 1.
    Wilson,
    /// Clopper and Pearson's exact interval, for values that are all 0 or 1. Never covers less than its level, and often more.
    ClopperPearson,
}

/// One end of an interval, with the probability that the true value is on its side.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Bound {
    /// The bound.
    pub value: f64,
    /// Whether the true value is above or below it.
    pub side: BoundSide,
    /// The confidence level of the bound alone, as a share such as 0.95.
    pub level: f64,
    /// The method.
    pub method: IntervalMethod,
}

/// The side of a one-sided bound.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BoundSide {
    /// The true value is above the bound.
    Lower,
    /// The true value is below the bound.
    Upper,
}

impl IntervalChoice {
    /// The confidence interval of the mean of finite values. `settings` has the level, and for a bootstrap the number of
    /// resamples and the seed.
    ///
    /// # Errors
    ///
    /// Undefined without values and for values that are not finite; where all values are equal, and for a single value, unless
    /// they are 0 or 1 and the method is for passes and failures; for other values with such a method; and at a level outside 0
    /// to 1.
    ///
    /// ```
    /// use evals_metrics::{Bootstrap, IntervalChoice, NoStatistic};
    ///
    /// let settings = Bootstrap::default();
    /// let interval = IntervalChoice::StudentT.interval(&[0.2, 0.5, 0.6, 0.9], &settings)?;
    /// assert_eq!(format!("[{:.3}, {:.3}]", interval.low, interval.high), "[0.091, 1.009]");
    ///
    /// let equal = IntervalChoice::StudentT.interval(&[0.5; 9], &settings);
    /// assert_eq!(equal, Err(NoStatistic::NoSpread));
    /// # Ok::<(), NoStatistic>(())
    /// ```
    pub fn interval(self, values: &[f64], settings: &Bootstrap) -> Result<Interval, NoStatistic> {
        check_level(settings.level)?;
        check_finite(values)?;
        match self {
            Self::Percentile => percentile_interval(values, settings),
            Self::Bca => bca_interval(values, settings),
            Self::BootstrapT => studentized_interval(values, settings),
            Self::StudentT => student_interval(values, settings.level),
            Self::Wilson => {
                let passes = passes(values).ok_or(NoStatistic::NotPassFail)?;
                Ok(wilson_interval(passes, values.len(), settings.level))
            }
            Self::ClopperPearson => {
                let passes = passes(values).ok_or(NoStatistic::NotPassFail)?;
                clopper_pearson(passes, values.len(), settings.level)
            }
        }
    }

    /// A one-sided confidence bound of the mean: above a lower one, or below an upper one, lies the true mean with the confidence
    /// of the settings' level.
    ///
    /// It is an end of the two-sided interval at the level `2 * level - 1`: the lower bound at 95 % is the lower end of the 90 %
    /// interval.
    ///
    /// # Errors
    ///
    /// As [`interval`](Self::interval), and at a level of 0.5 or less.
    pub fn bound(
        self,
        values: &[f64],
        side: BoundSide,
        settings: &Bootstrap,
    ) -> Result<Bound, NoStatistic> {
        check_level(settings.level)?;
        if settings.level <= 0.5 {
            return Err(NoStatistic::BoundLevel);
        }
        let two_sided = Bootstrap {
            level: 2.0 * settings.level - 1.0,
            ..*settings
        };
        let interval = self.interval(values, &two_sided)?;
        Ok(Bound {
            level: settings.level,
            ..interval.bound(side)
        })
    }
}

impl Interval {
    /// An end of the interval as a one-sided bound: the ends of a 95 % interval are bounds at 97.5 %.
    pub fn bound(&self, side: BoundSide) -> Bound {
        Bound {
            value: match side {
                BoundSide::Lower => self.low,
                BoundSide::Upper => self.high,
            },
            side,
            level: f64::midpoint(1.0, self.level),
            method: self.method,
        }
    }
}

/// The percentile bootstrap's interval of a mean.
pub(super) fn percentile_interval(
    values: &[f64],
    settings: &Bootstrap,
) -> Result<Interval, NoStatistic> {
    Moments::of(values)?;
    let interval = settings.percentile_interval(values);
    interval.ok_or(NoStatistic::NoSpread)
}

/// Student's t interval of a mean.
pub(super) fn student_interval(values: &[f64], level: f64) -> Result<Interval, NoStatistic> {
    let moments = Moments::of(values)?;
    let quantile = student_upper_quantile((1.0 - level) / 2.0, moments.degrees());
    let reach = quantile * moments.standard_error();
    around(moments.mean, reach, level, IntervalMethod::StudentT)
}

/// The interval that reaches as far to both sides.
///
/// # Errors
///
/// Undefined if an end is beyond the range of numbers.
pub(super) fn around(
    mean: f64,
    reach: f64,
    level: f64,
    method: IntervalMethod,
) -> Result<Interval, NoStatistic> {
    let (low, high) = (mean - reach, mean + reach);
    let interval = Interval {
        low,
        high,
        level,
        method,
    };
    let is_finite = low.is_finite() && high.is_finite();
    is_finite.then_some(interval).ok_or(NoStatistic::NotFinite)
}

/// Clopper and Pearson's exact interval of a share: `passes` of `trials`.
///
/// # Errors
///
/// Undefined without trials, and at a level outside 0 to 1.
///
/// Source: Clopper and Pearson, "The Use of Confidence or Fiducial Limits Illustrated in the Case of the Binomial", Biometrika 26
/// (1934). Equals `scipy.stats.binomtest(passes, trials).proportion_ci(method="exact")`.
pub(super) fn clopper_pearson(
    passes: usize,
    trials: usize,
    level: f64,
) -> Result<Interval, NoStatistic> {
    if trials == 0 {
        return Err(NoStatistic::NoValues);
    }
    let tail = (1.0 - level) / 2.0;
    let (k, fails) = (as_f64(passes), as_f64(trials - passes));
    Ok(Interval {
        low: if passes == 0 {
            0.0
        } else {
            beta_quantile(tail, k, fails + 1.0)
        },
        high: if passes == trials {
            1.0
        } else {
            beta_quantile(1.0 - tail, k + 1.0, fails)
        },
        level,
        method: IntervalMethod::ClopperPearson,
    })
}
