//! Counts, means and random p values in floating point, and how many random draws methods make.

use std::num::NonZeroU32;

/// How many resamples a [`Bootstrap`](crate::Bootstrap) draws by default, how many permutations a
/// [`ChangePointTest`](crate::ChangePointTest), and how many random swaps place the ends of an interval that belongs to a randomization test.
pub const RESAMPLES: NonZeroU32 = NonZeroU32::new(10_000).expect("10,000 is not 0");

/// How many random swaps or divisions a randomization test makes by default. A p value takes more draws than an interval, because it is small.
pub const RANDOM_SWAPS: NonZeroU32 = NonZeroU32::new(100_000).expect("100,000 is not 0");

/// The highest corrected p value that is significant by default.
pub const SIGNIFICANCE: f64 = 0.05;

/// Numbers count as equal if they are closer than this share of their size: rounding and the order of additions alone may cause such a
/// difference.
pub const ROUNDING: f64 = 1e-12;

/// A count as a floating-point number, to divide by.
#[expect(
    clippy::cast_precision_loss,
    reason = "a count of documents, queries or samples stays below 2^53, up to which f64 is exact"
)]
#[inline]
pub fn as_f64(count: usize) -> f64 {
    count as f64
}

/// The quotient of `part` and `whole`, which is not 0.
#[inline]
pub(crate) fn share(part: usize, whole: usize) -> f64 {
    as_f64(part) / as_f64(whole)
}

/// The p value of a test that made so many random draws, of which some were at least as extreme as what was observed. What was observed counts
/// as one more draw, so that no p value is 0.
///
/// Source: Phipson and Smyth, "Permutation P-values Should Never Be Zero", Statistical Applications in Genetics and Molecular Biology 9 (2010).
pub fn p_value_of_draws(as_extreme: usize, draws: u32) -> f64 {
    (as_f64(as_extreme) + 1.0) / (f64::from(draws) + 1.0)
}

/// 2^-64. Sums of finite values scaled by it do not overflow. Scaling by a power of two rounds only
/// numbers that are too small to matter in such a sum.
pub(crate) const OVERFLOW_SCALE: f64 = 1.0 / 18_446_744_073_709_551_616.0;

/// The arithmetic mean, or `None` without values.
///
/// The mean of finite values is finite and between them, even where their sum is too large for a
/// float.
pub fn arithmetic_mean(values: &[f64]) -> Option<f64> {
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
