//! Counts and means in floating point.

/// A count as a floating-point number, to divide by.
#[expect(
    clippy::cast_precision_loss,
    reason = "a count of documents, queries or samples stays below 2^53, up to which f64 is exact"
)]
#[inline]
pub(crate) fn as_f64(count: usize) -> f64 {
    count as f64
}

/// The quotient of `part` and `whole`, which is not 0.
#[inline]
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    as_f64(part) / as_f64(whole)
}

/// 2^-64. Sums of finite values scaled by it do not overflow. Scaling by a power of two rounds only
/// numbers that are too small to matter in such a sum.
pub(crate) const OVERFLOW_SCALE: f64 = 1.0 / 18_446_744_073_709_551_616.0;

/// The arithmetic mean, or `None` without values.
///
/// The mean of finite values is finite and between them, even where their sum is too large for a
/// float.
pub(crate) fn arithmetic_mean(values: &[f64]) -> Option<f64> {
    let &first = values.first()?;
    let sum = values.iter().fold(0.0, |sum, value| sum + value);
    let mean = sum / as_f64(values.len());
    if mean.is_finite() {
        return Some(mean);
    }
    let scaled: f64 = values.iter().map(|value| value * OVERFLOW_SCALE).sum();
    let mean = scaled / as_f64(values.len()) / OVERFLOW_SCALE;
    let least = values.iter().copied().fold(first, f64::min);
    let greatest = values.iter().copied().fold(first, f64::max);
    Some(mean.max(least).min(greatest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_beyond_the_range_of_a_float_has_a_mean() {
        assert_eq!(arithmetic_mean(&[1e308, 1.7e308]), Some(1.35e308));
        assert_eq!(
            arithmetic_mean(&[-f64::MAX, -f64::MAX, f64::MAX, f64::MAX]),
            Some(0.0)
        );
        for count in [2, 3, 7, 1_000] {
            assert_eq!(arithmetic_mean(&vec![f64::MAX; count]), Some(f64::MAX));
            assert_eq!(arithmetic_mean(&vec![-f64::MAX; count]), Some(-f64::MAX));
        }
    }

    /// As Python's `sum(values) / len(values)` rounds it; another way to the mean would give 0.2.
    #[test]
    fn an_ordinary_mean_is_the_sum_divided_by_the_count() {
        assert_eq!(
            arithmetic_mean(&[0.1, 0.2, 0.3]),
            Some(0.200_000_000_000_000_04)
        );
    }

    #[test]
    fn no_values_have_no_mean() {
        assert_eq!(arithmetic_mean(&[]), None);
    }
}
