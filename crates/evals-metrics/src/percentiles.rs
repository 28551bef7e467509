//! Percentiles of measurements such as latencies.

use serde::{Deserialize, Serialize};

use crate::arithmetic::{arithmetic_mean, as_f64};

/// The percentiles of measurements such as latencies, in the unit of the samples.
///
/// Percentiles interpolate linearly between samples, as `numpy.percentile` does by default. They
/// are undefined below 20 samples.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentiles {
    /// The number of samples.
    pub n: usize,
    /// The arithmetic mean, or `None` without samples.
    pub mean: Option<f64>,
    /// The median.
    pub p50: Option<f64>,
    /// The 95th percentile.
    pub p95: Option<f64>,
    /// The 99th percentile.
    pub p99: Option<f64>,
}

impl Percentiles {
    /// Below this many samples a percentile says more about chance than about the system.
    pub const FEWEST_SAMPLES: usize = 20;

    /// Summarises samples in any order, ignoring those that are not finite.
    pub fn of(samples: impl IntoIterator<Item = f64>) -> Self {
        let mut samples: Vec<f64> = samples
            .into_iter()
            .filter(|sample| sample.is_finite())
            .collect();
        samples.sort_unstable_by(f64::total_cmp);
        let n = samples.len();
        let percentile = |q| {
            if n < Self::FEWEST_SAMPLES {
                None
            } else {
                quantile(&samples, q)
            }
        };
        Self {
            n,
            mean: arithmetic_mean(&samples),
            p50: percentile(0.50),
            p95: percentile(0.95),
            p99: percentile(0.99),
        }
    }
}

/// The `q`-quantile of ascending values, interpolated linearly between the two nearest: the default
/// of `numpy.quantile`, definition 7 of Hyndman and Fan, "Sample Quantiles in Statistical
/// Packages", The American Statistician 50 (1996).
///
/// `q` is between 0 and 1. `None` where there are no values.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the position is between 0 and the number of values"
)]
pub fn quantile(ascending: &[f64], q: f64) -> Option<f64> {
    let last = ascending.len().checked_sub(1)?;
    let position = q * as_f64(last);
    let below = (position.floor() as usize).min(last);
    let low = ascending[below];
    let high = ascending[(below + 1).min(last)];
    Some(interpolate(low, high, position - as_f64(below)))
}

/// Starts from the nearer end, as numpy does, so that the result is exact at both ends. Between values
/// whose distance is too large for a float, the two are weighted instead.
fn interpolate(low: f64, high: f64, weight: f64) -> f64 {
    let distance = high - low;
    if distance.is_infinite() {
        low * (1.0 - weight) + high * weight
    } else if weight < 0.5 {
        low + distance * weight
    } else {
        high - distance * (1.0 - weight)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equals_numpy() {
        // numpy 2.4.6: np.percentile([x * x for x in range(1, 26)], [50, 95, 99])
        let percentiles = Percentiles::of((1..=25).rev().map(|x| f64::from(x * x)));
        assert_eq!(percentiles.n, 25);
        assert_eq!(percentiles.mean, Some(221.0));
        assert_eq!(percentiles.p50, Some(169.0));
        assert!((percentiles.p95.unwrap() - 566.6).abs() < 1e-9);
        assert!((percentiles.p99.unwrap() - 613.24).abs() < 1e-9);
    }

    #[test]
    fn gives_no_percentile_below_twenty_samples() {
        let nineteen = Percentiles::of((0..19).map(f64::from));
        assert_eq!(
            nineteen,
            Percentiles {
                n: 19,
                mean: Some(9.0),
                ..Percentiles::default()
            }
        );
        assert_eq!(Percentiles::of((0..20).map(f64::from)).p50, Some(9.5));
    }

    #[test]
    fn samples_near_the_greatest_float_have_finite_percentiles() {
        let ends = [-(1023_f64.exp2()), 1023_f64.exp2()];
        let percentiles = Percentiles::of((0..20).map(|index| ends[index % 2]));
        assert_eq!(percentiles.mean, Some(0.0));
        assert_eq!(percentiles.p50, Some(0.0));
        assert_eq!(percentiles.p99, Some(ends[1]));
    }

    #[test]
    fn gives_no_mean_without_samples() {
        assert_eq!(Percentiles::of([f64::NAN]), Percentiles::default());
    }

    #[test]
    fn interpolates_as_numpy_does() {
        // numpy 2.4.6: np.quantile([1, 2, 4, 8, 16], q)
        let values = [1.0, 2.0, 4.0, 8.0, 16.0];
        let expected = [
            (0.0, 1.0),
            (0.1, 1.4),
            (0.3, 2.4),
            (0.5, 4.0),
            (0.9, 12.8),
            (1.0, 16.0),
        ];
        for (q, expected) in expected {
            let actual = quantile(&values, q).unwrap();
            assert!(
                (actual - expected).abs() < 1e-12,
                "{q}: {actual} instead of {expected}"
            );
        }
    }

    #[test]
    fn a_distance_beyond_the_range_of_a_float_is_interpolated() {
        let greatest = 1023_f64.exp2();
        let values = [-greatest, greatest];
        let expected = [
            (0.0, -greatest),
            (0.25, -greatest / 2.0),
            (0.5, 0.0),
            (1.0, greatest),
        ];
        for (q, expected) in expected {
            assert_eq!(quantile(&values, q), Some(expected));
        }
    }

    #[test]
    fn one_value_is_every_quantile() {
        assert_eq!(quantile(&[3.5], 0.99), Some(3.5));
    }

    #[test]
    fn no_values_have_no_quantile() {
        assert_eq!(quantile(&[], 0.5), None);
    }
}
