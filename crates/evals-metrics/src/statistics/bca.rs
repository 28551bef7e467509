//! The bias-corrected and accelerated bootstrap.

use super::NoStatistic;
use super::moments::Moments;
use crate::arithmetic::as_f64;
use crate::distribution::{lower_tail, quantile_at, upper_quantile};
use crate::quantile::quantile;
use crate::{Bootstrap, Interval, IntervalMethod};

/// Means of resamples count as equal to the mean if they are closer than this share of their size: the order of additions alone
/// may part them.
const ROUNDING: f64 = 1e-12;

/// The `BCa` interval of a mean: the percentile bootstrap, with percentiles that are moved for the bias and the skewness of the
/// resampled means.
///
/// ```text
/// percentile = Φ(z0 + (z0 ± z) / (1 - a (z0 ± z)))
/// z0 = Φ⁻¹(share of resampled means below the mean),   a = Σd³ / (6 (Σd²)^(3/2))
/// ```
///
/// with the distances d of the values from their mean. Resampled means equal to the mean count as half below it.
///
/// Source: Efron, "Better Bootstrap Confidence Intervals", Journal of the American Statistical Association 82 (1987); Efron and
/// Tibshirani (1993), section 14.3. Equals `scipy.stats.bootstrap(method="BCa")` on the same resamples.
pub(super) fn bca_interval(values: &[f64], settings: &Bootstrap) -> Result<Interval, NoStatistic> {
    let moments = Moments::of(values)?;
    let means = settings.sorted_means(values);
    let slack = ROUNDING
        * means
            .iter()
            .fold(0.0_f64, |size, mean| size.max(mean.abs()));
    let below = means.partition_point(|mean| *mean < moments.mean - slack);
    let not_above = means.partition_point(|mean| *mean <= moments.mean + slack);
    let share = as_f64(below + not_above) / (2.0 * as_f64(means.len()));
    if share <= 0.0 || share >= 1.0 {
        return Err(NoStatistic::NoSpread);
    }
    let bias = quantile_at(share);
    let acceleration = moments.skewness / 6.0;
    let z = upper_quantile((1.0 - settings.level) / 2.0);
    let end = |z: f64| {
        let moved = bias + z;
        let percentile = lower_tail(bias + moved / (1.0 - acceleration * moved));
        quantile(&means, percentile).ok_or(NoStatistic::NoValues)
    };
    Ok(Interval {
        low: end(-z)?,
        high: end(z)?,
        level: settings.level,
        method: IntervalMethod::Bca,
    })
}
