//! The methods of intervals around a mean.

use super::NoStatistic;
use super::moments::{Moments, check_level};
use crate::arithmetic::as_f64;
use crate::distribution::{beta_quantile, student_upper_quantile};
use crate::{Bootstrap, Interval, IntervalMethod};

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
pub fn clopper_pearson(passes: usize, trials: usize, level: f64) -> Result<Interval, NoStatistic> {
    check_level(level)?;
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
