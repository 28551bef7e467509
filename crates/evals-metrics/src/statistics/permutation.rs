//! The permutation test of two groups of values, such as the newest runs and those before them.

use super::NoStatistic;
use super::moments::check_finite;
use crate::arithmetic::{RANDOM_SWAPS, ROUNDING, arithmetic_mean, p_value_of_draws};
use crate::random::Xoshiro256PlusPlus;

/// Up to this many values in both groups, all ways to divide them are counted.
const ENUMERATED: usize = 20;
/// Random divisions above that: with the observed one, as many as random swaps.
const DRAWN: u32 = RANDOM_SWAPS.get() - 1;

/// The two-sided p value of the means of two groups of values: the probability of means at least as far apart if nothing changed between them.
///
/// If nothing changed between the groups, each value could as well have been in the other group. The test divides the values in all ways, or in
/// 99,999 random ones above 20 values, and counts how often the means are at least as far apart. It holds for groups of any size and values of
/// any distribution, and needs no spread: two groups of 4 equal values are told apart with p = 2/70. It assumes independent values.
///
/// Sources: Fisher, *The Design of Experiments* (1935); for random divisions, Phipson and Smyth (2010).
///
/// ```
/// use evals_metrics::permutation_test;
///
/// let p_value = permutation_test(&[0.71, 0.70, 0.72, 0.71], &[0.64, 0.63, 0.65, 0.62], 0)?;
/// assert!((p_value - 2.0 / 70.0).abs() < 1e-12);
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
///
/// # Errors
///
/// Undefined if a group is empty, if a value is not finite, and where all values are equal.
pub fn permutation_test(first: &[f64], second: &[f64], seed: u64) -> Result<f64, NoStatistic> {
    let mut values = [second, first].concat();
    check_finite(first)?;
    check_finite(second)?;
    if values
        .iter()
        .all(|value| value.total_cmp(&values[0]).is_eq())
    {
        return Err(NoStatistic::NoSpread);
    }
    let (n, size) = (values.len(), second.len());
    let mean = arithmetic_mean(&values).ok_or(NoStatistic::NoValues)?;
    // Of values around their common mean, a sum far from 0 means that the groups are far apart.
    for value in &mut values {
        *value -= mean;
    }
    let total: f64 = values.iter().map(|value| value.abs()).sum();
    let threshold = values[..size].iter().sum::<f64>().abs() - ROUNDING * total;
    if n <= ENUMERATED {
        let divisions = (0..1_u32 << n).filter(|it| it.count_ones() as usize == size);
        let (mut all, mut as_far) = (0, 0);
        for division in divisions {
            let chosen = values.iter().enumerate();
            let chosen = chosen.filter(|(place, _)| division >> place & 1 == 1);
            let sum: f64 = chosen.map(|(_, value)| value).sum();
            all += 1;
            as_far += u32::from(sum.abs() >= threshold);
        }
        Ok(f64::from(as_far) / f64::from(all))
    } else {
        let mut random = Xoshiro256PlusPlus::seeded(seed);
        let as_far = (0..DRAWN).filter(|_| {
            for place in 0..size {
                let other = place + random.index(n - place);
                values.swap(place, other);
            }
            values[..size].iter().sum::<f64>().abs() >= threshold
        });
        Ok(p_value_of_draws(as_far.count(), DRAWN))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_values_are_divided_in_all_ways() {
        // Of the 6 ways to choose two of 1, 2, 3 and 5, the sums 3, 4, 5, 6, 7 and 8 lie around 5.5. As far from it as 8 is 3 alone.
        let p_value = permutation_test(&[1.0, 2.0], &[3.0, 5.0], 0).unwrap();
        assert!((p_value - 2.0 / 6.0).abs() < 1e-12, "{p_value}");
        // Groups of two sizes: only one of the 4 single values is as far from the mean as 9.
        let p_value = permutation_test(&[9.0], &[1.0, 2.0, 3.0], 0).unwrap();
        assert!((p_value - 0.25).abs() < 1e-12, "{p_value}");
    }

    #[test]
    fn many_values_are_divided_at_random() {
        let first: Vec<f64> = (0..12).map(|it| f64::from(it % 5)).collect();
        let same = permutation_test(&first, &first, 1).unwrap();
        assert!(same > 0.99, "{same}");
        let second: Vec<f64> = first.iter().map(|it| it + 9.0).collect();
        let apart = permutation_test(&first, &second, 1).unwrap();
        assert!(apart < 1e-4, "{apart}");
    }

    #[test]
    fn equal_values_and_empty_groups_have_no_p_value() {
        let of = |first: &[f64], second: &[f64]| permutation_test(first, second, 0).unwrap_err();
        assert_eq!(of(&[0.5; 4], &[0.5; 4]), NoStatistic::NoSpread);
        assert_eq!(of(&[], &[0.5; 4]), NoStatistic::NoValues);
        assert_eq!(of(&[f64::NAN], &[0.5]), NoStatistic::NotFinite);
    }
}
