//! Quantiles of measurements of the same cases by several systems, and the intervals of their differences.

use crate::arithmetic::as_f64;
use crate::percentiles::quantile;
use crate::random::Xoshiro256PlusPlus;
use crate::{Bootstrap, Interval, IntervalMethod, Percentiles};

/// A quantile, such as the median latency, of several systems over the same cases, with bootstrap resamples.
///
/// Every resample draws cases, and all systems get the same ones. How long a case takes affects all systems alike and cancels out of
/// the differences. Quantiles interpolate linearly between values, as `numpy.quantile` does by default.
///
/// Source: Efron and Tibshirani, *An Introduction to the Bootstrap* (1993), chapter 13.
#[derive(Debug, Clone, PartialEq)]
pub struct PairedQuantiles {
    values: Vec<f64>,
    /// The quantile of each resample, for each system.
    resampled: Vec<Vec<f64>>,
}

impl PairedQuantiles {
    /// The `share`-quantile of each system, such as 0.5 for the median. Each of the `systems` holds one finite value for each case, in
    /// the same order of cases. `None` without systems, below [20 cases](Percentiles::FEWEST_SAMPLES), for systems with different
    /// numbers of values, for a value that is not finite, or for a share that is not between 0 and 1.
    ///
    /// ```
    /// use evals_metrics::{Bootstrap, PairedQuantiles};
    ///
    /// let slow: Vec<f64> = (0..40).map(|case| 0.2 + f64::from(case) / 100.0).collect();
    /// let fast: Vec<f64> = slow.iter().map(|seconds| seconds - 0.05).collect();
    /// let medians = PairedQuantiles::of(&[slow, fast], 0.5, &Bootstrap::default()).expect("40 cases");
    /// let saved = medians.difference_interval(0, 1, 0.95).expect("two systems");
    /// assert!(saved.low > -0.0501 && saved.high < -0.0499, "every case saves 50 ms");
    /// ```
    pub fn of(systems: &[Vec<f64>], share: f64, settings: &Bootstrap) -> Option<Self> {
        let cases = systems.first()?.len();
        let fits = |values: &Vec<f64>| values.len() == cases && all_finite(values);
        let is_share = (0.0..=1.0).contains(&share);
        if cases < Percentiles::FEWEST_SAMPLES || !is_share || !systems.iter().all(fits) {
            return None;
        }
        let sorted: Vec<Sorted<'_>> = systems.iter().map(|values| Sorted::of(values)).collect();
        let once = vec![1; cases];
        let values = sorted.iter().map(|it| it.quantile(&once, share)).collect();
        let resamples = settings.resamples.get() as usize;
        let mut resampled = vec![Vec::with_capacity(resamples); systems.len()];
        let mut random = Xoshiro256PlusPlus::seeded(settings.seed);
        let mut times = vec![0_u32; cases];
        for _ in 0..resamples {
            times.fill(0);
            for drawn in (0..cases).step_by(2) {
                let [left, right] = random.index_pair(cases);
                times[left] += 1;
                if drawn + 1 < cases {
                    times[right] += 1;
                }
            }
            for (system, values) in sorted.iter().zip(&mut resampled) {
                values.push(system.quantile(&times, share));
            }
        }
        Some(Self { values, resampled })
    }

    /// The quantile of a system over all cases. `None` if there is no such system.
    pub fn value(&self, system: usize) -> Option<f64> {
        self.values.get(system).copied()
    }

    /// The percentile bootstrap's interval of a system's quantile. `None` if there is no such system, if the level is not between 0 and
    /// 1, or if all resamples agree.
    pub fn interval(&self, system: usize, level: f64) -> Option<Interval> {
        interval(self.resampled.get(system)?.clone(), level)
    }

    /// The interval of the second system's quantile minus the first's. `None` in the same cases.
    pub fn difference_interval(&self, first: usize, second: usize, level: f64) -> Option<Interval> {
        interval(self.differences(first, second)?, level)
    }

    /// Whether the interval of the difference excludes 0. Where all resamples agree on a difference, which then has no interval, whether
    /// that is not 0. `false` if there is no such system, or the level is not between 0 and 1.
    pub fn is_apart(&self, first: usize, second: usize, level: f64) -> bool {
        let ends = self
            .differences(first, second)
            .and_then(|differences| ends(differences, level));
        ends.is_some_and(|(low, high)| low > 0.0 || high < 0.0)
    }

    fn differences(&self, first: usize, second: usize) -> Option<Vec<f64>> {
        let pairs = self.resampled.get(first)?.iter();
        let pairs = pairs.zip(self.resampled.get(second)?);
        Some(pairs.map(|(first, second)| second - first).collect())
    }
}

fn all_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

fn interval(resampled: Vec<f64>, level: f64) -> Option<Interval> {
    let varies = resampled
        .windows(2)
        .any(|pair| pair[0].total_cmp(&pair[1]).is_ne());
    let (low, high) = ends(resampled, level).filter(|_| varies)?;
    Some(Interval {
        low,
        high,
        level,
        method: IntervalMethod::Bootstrap,
    })
}

/// The ends of the share `level` in the middle of the values.
fn ends(mut resampled: Vec<f64>, level: f64) -> Option<(f64, f64)> {
    if !(level > 0.0 && level < 1.0) {
        return None;
    }
    resampled.sort_unstable_by(f64::total_cmp);
    let tail = (1.0 - level) / 2.0;
    let low = quantile(&resampled, tail)?;
    Some((low, quantile(&resampled, 1.0 - tail)?))
}

/// The values of a system, with the cases in the order of their values.
struct Sorted<'v> {
    values: &'v [f64],
    order: Vec<usize>,
}

impl<'v> Sorted<'v> {
    fn of(values: &'v [f64]) -> Self {
        let mut order: Vec<usize> = (0..values.len()).collect();
        order.sort_unstable_by(|left, right| values[*left].total_cmp(&values[*right]));
        Self { values, order }
    }

    /// The quantile of a sample that holds each case so many `times`, and as many cases as there are.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the position is between 0 and the number of values"
    )]
    fn quantile(&self, times: &[u32], share: f64) -> f64 {
        let position = share * as_f64(times.len() - 1);
        let below = position.floor() as usize;
        let mut passed = 0;
        let mut low = None;
        for case in &self.order {
            passed += times[*case] as usize;
            if low.is_none() && passed > below {
                low = Some(self.values[*case]);
            }
            if passed > below + 1 || passed == times.len() {
                let high = self.values[*case];
                let low = low.unwrap_or(high);
                return low + (high - low) * (position - as_f64(below));
            }
        }
        unreachable!("a sample holds as many cases as there are")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> Vec<f64> {
        (1..=25).map(|x| f64::from(x * x)).collect()
    }

    #[test]
    fn the_quantiles_are_those_of_numpy() {
        // numpy 2.4.6: np.quantile([x * x for x in range(1, 26)], [0.5, 0.95, 0.99])
        for (share, expected) in [(0.5, 169.0), (0.95, 566.6), (0.99, 613.24)] {
            let found = PairedQuantiles::of(&[sample()], share, &Bootstrap::default()).unwrap();
            assert!((found.value(0).unwrap() - expected).abs() < 1e-9, "{share}");
        }
    }

    #[test]
    fn a_quantile_of_a_resample_is_that_of_its_sorted_values() {
        let values = [5.0, 1.0, 3.0, 2.0];
        let sorted = Sorted::of(&values);
        // 1, 1, 3, 5
        assert!((sorted.quantile(&[1, 2, 1, 0], 0.5) - 2.0).abs() < 1e-12);
        // 2, 2, 2, 2
        assert!((sorted.quantile(&[0, 0, 0, 4], 0.95) - 2.0).abs() < 1e-12);
        assert!((sorted.quantile(&[1, 1, 1, 1], 1.0) - 5.0).abs() < 1e-12);
    }

    #[test]
    fn a_constant_difference_has_no_interval_and_a_varying_one_has() {
        let later: Vec<f64> = sample().iter().map(|value| value + 7.0).collect();
        let medians = PairedQuantiles::of(
            &[sample(), later, vec![3.0; 25]],
            0.5,
            &Bootstrap::default(),
        )
        .unwrap();
        assert_eq!(medians.difference_interval(0, 1, 0.95), None);
        assert!(medians.is_apart(0, 1, 0.95) && !medians.is_apart(0, 0, 0.95));
        assert_eq!(medians.interval(2, 0.95), None, "all values are equal");
        let interval = medians.interval(0, 0.95).unwrap();
        assert!(interval.low < 169.0 && interval.high > 169.0);
        let wider = medians.interval(0, 0.99).unwrap();
        assert!(wider.low <= interval.low && wider.high >= interval.high);
    }

    #[test]
    fn too_few_cases_have_no_quantile() {
        let of = |systems: &[Vec<f64>], share| {
            PairedQuantiles::of(systems, share, &Bootstrap::default())
        };
        assert_eq!(of(&[vec![1.0; 19]], 0.5), None);
        assert_eq!(of(&[vec![1.0; 20], vec![1.0; 21]], 0.5), None);
        assert_eq!(of(&[vec![f64::NAN; 20]], 0.5), None);
        assert_eq!(of(&[vec![1.0; 20]], 1.5), None);
        assert_eq!(of(&[], 0.5), None);
    }
}
