//! The studentized bootstrap.

use super::NoStatistic;
use super::moments::Moments;
use crate::arithmetic::as_f64;
use crate::quantile::quantile;
use crate::random::Xoshiro256PlusPlus;
use crate::{Bootstrap, Interval, IntervalMethod};

/// Resamples with a smaller variance, as a share of the largest possible one, have equal values but for rounding.
const NO_VARIANCE: f64 = 1e-15;

/// The studentized bootstrap's interval of a mean, or bootstrap-t: Student's interval with the quantiles of t that resamples have,
/// in place of those that normal values would have.
///
/// ```text
/// [mean - t_(1 - α/2) s / √n,   mean - t_(α/2) s / √n],   t = (mean* - mean) / (s* / √n)
/// ```
///
/// Undefined where so many resamples have equal values that a quantile of t has no limit, as with few different values.
///
/// Source: Efron and Tibshirani (1993), equation 12.22.
pub(super) fn studentized_interval(
    values: &[f64],
    settings: &Bootstrap,
) -> Result<Interval, NoStatistic> {
    let moments = Moments::of(values)?;
    let n = as_f64(values.len());
    let mut random = Xoshiro256PlusPlus::seeded(settings.seed);
    // In standard deviations, so that squares neither overflow nor underflow.
    let distances: Vec<f64> = values
        .iter()
        .map(|value| (value - moments.mean) / moments.deviation)
        .collect();
    let mut ratios: Vec<f64> = (0..settings.resamples.get())
        .map(|_| {
            let (sum, squares) = resampled(&distances, &mut random);
            let mean = sum / n;
            let variance = (squares - sum * mean) / (n - 1.0);
            if variance <= NO_VARIANCE * n {
                f64::INFINITY.copysign(mean)
            } else {
                mean / (variance / n).sqrt()
            }
        })
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - settings.level) / 2.0;
    let end = |share: f64| {
        let ratio = quantile(&ratios, share).filter(|ratio| ratio.is_finite());
        let ratio = ratio.ok_or(NoStatistic::NoSpread)?;
        Ok(moments.mean - ratio * moments.standard_error())
    };
    Ok(Interval {
        low: end(1.0 - tail)?,
        high: end(tail)?,
        level: settings.level,
        method: IntervalMethod::BootstrapT,
    })
}

/// The sum of a resample, and that of its squares.
fn resampled(values: &[f64], random: &mut Xoshiro256PlusPlus) -> (f64, f64) {
    let (mut sum, mut squares) = (0.0, 0.0);
    for drawn in (0..values.len()).step_by(2) {
        let pair = random.index_pair(values.len());
        for index in pair.into_iter().take(values.len() - drawn) {
            sum += values[index];
            squares += values[index] * values[index];
        }
    }
    (sum, squares)
}
