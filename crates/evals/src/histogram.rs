//! How many values lie in each tenth from 0 to 1.

/// Bins of equal width from 0 to 1.
pub(crate) const BINS: usize = 10;

/// Counts values by bin; the last one includes 1. `None` without values, or if one is not from 0 to 1.
pub(crate) fn counted(values: impl Iterator<Item = f64>) -> Option<[usize; BINS]> {
    let mut bins = [0; BINS];
    let mut any = false;
    for value in values {
        *bins.get_mut(bin(value)?)? += 1;
        any = true;
    }
    any.then_some(bins)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    reason = "the number of a bin is small"
)]
fn bin(value: f64) -> Option<usize> {
    let is_share = (0.0..=1.0).contains(&value);
    // The epsilon puts 0.3 into the bin that begins with 0.3.
    is_share.then(|| ((value * BINS as f64 + 1e-9) as usize).min(BINS - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_at_an_edge_is_in_the_upper_bin_and_one_in_the_last() {
        let bins = counted([0.0, 0.1, 0.3, 0.299, 0.95, 1.0].into_iter());
        assert_eq!(bins, Some([1, 1, 1, 1, 0, 0, 0, 0, 0, 2]));
    }

    #[test]
    fn scores_beyond_one_have_no_histogram() {
        assert_eq!(counted([0.5, 4.0].into_iter()), None);
        assert_eq!(counted([-0.5].into_iter()), None);
        assert_eq!(counted(std::iter::empty()), None);
    }
}
