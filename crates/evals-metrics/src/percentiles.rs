//! Percentiles of measurements such as latencies.

use serde::{Deserialize, Serialize};

use crate::arithmetic::arithmetic_mean;
use crate::quantile::quantile;

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
}
