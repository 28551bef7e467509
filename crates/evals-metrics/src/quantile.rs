//! Quantiles of sorted values.

use crate::arithmetic::as_f64;

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
