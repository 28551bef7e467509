//! The paired randomization test: do two measurements of the same cases differ by more than chance explains?

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::arithmetic::{arithmetic_mean, as_f64};
use crate::random::Xoshiro256PlusPlus;
use crate::statistics::{TestMethod, at_most};
use crate::{Bootstrap, Interval};

/// Up to this many non-zero differences, the test enumerates all signs: 2^20 sums take milliseconds.
const ENUMERATED: usize = 20;
/// Values and sums of differences count as equal if they are closer than this share of their size: the order of additions
/// alone may cause such a difference.
const ROUNDING: f64 = 1e-12;

/// If the test expects fewer extreme swaps than this among all random ones, it draws no swaps and returns the least p value.
const UNSEEN: f64 = 1e-3;

/// Tests whether chance explains the difference between two measurements of the same cases: Fisher's randomization test.
///
/// If a change has no effect, the two values of each case are interchangeable. The test swaps them case by case, in all ways
/// or at random, and counts how often the mean difference is at least as far from 0 as the observed one. It assumes nothing
/// about the distribution of the values, and is the recommended test for means of rank measures. For passes and failures it
/// equals McNemar's exact test.
///
/// Sources: Fisher, *The Design of Experiments* (1935), section 21; Smucker, Allan and Carterette, "A Comparison of Statistical
/// Significance Tests for Information Retrieval Evaluation" (CIKM 2007); for the p value of random swaps, Phipson and Smyth,
/// "Permutation P-values Should Never Be Zero" (2010).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedTest {
    /// How many random draws of signs to use if there are too many cases to enumerate. Default: 100,000.
    pub resamples: NonZeroU32,
    /// The confidence level of the interval, between 0 and 1, both excluded. Default: 0.95.
    pub level: f64,
    /// Seeds the random numbers. Default: 0.
    pub seed: u64,
}

impl Default for PairedTest {
    fn default() -> Self {
        const RESAMPLES: NonZeroU32 = NonZeroU32::new(100_000).expect("100,000 is not 0");
        Self {
            resamples: RESAMPLES,
            level: 0.95,
            seed: 0,
        }
    }
}

/// The change of a mean between two measurements of the same cases.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PairedDifference {
    /// How many cases have both values.
    pub n: usize,
    /// The mean of the first values.
    pub before: f64,
    /// The mean of the second values.
    pub after: f64,
    /// The mean of the differences, second minus first.
    pub difference: f64,
    /// The confidence interval of the mean difference, from the percentile bootstrap over cases. `None` if all differences
    /// are equal, or below two cases.
    pub interval: Option<Interval>,
    /// The two-sided p value: the probability of a mean difference at least as far from 0 if the change has no effect. 1 if
    /// no case changed.
    pub p_value: f64,
    /// Whether the p value comes from all swaps rather than random ones.
    pub is_exact: bool,
    /// The method of the p value: McNemar's exact test for passes and failures, which is what the randomization test is then.
    #[serde(default)]
    pub method: TestMethod,
    /// How many cases have a greater second value.
    pub greater: usize,
    /// How many cases have a smaller second value.
    pub less: usize,
}

impl PairedDifference {
    /// How many cases have equal values.
    pub fn equal(&self) -> usize {
        self.n - self.greater - self.less
    }
}

impl PairedTest {
    /// Compares the first and second value of each case. `None` if there is no case, or a value is not finite.
    ///
    /// ```
    /// use evals_metrics::PairedTest;
    ///
    /// // Of nine cases that changed, eight now pass: two-sided 2 * (1 + 9) / 2^9.
    /// let mut pairs = vec![(0.0, 1.0); 8];
    /// pairs.push((1.0, 0.0));
    /// pairs.extend([(1.0, 1.0); 20]);
    /// let change = PairedTest::default().compare(&pairs).expect("finite values");
    /// assert!((change.p_value - 20.0 / 512.0).abs() < 1e-12 && change.is_exact);
    /// assert_eq!((change.greater, change.less, change.equal()), (8, 1, 20));
    /// ```
    pub fn compare(&self, pairs: &[(f64, f64)]) -> Option<PairedDifference> {
        let differences = pairs
            .iter()
            .map(|(before, after)| difference(*before, *after));
        let differences: Vec<f64> = differences.collect();
        if pairs.is_empty() || !differences.iter().all(|value| value.is_finite()) {
            return None;
        }
        let mean = |value: fn(&(f64, f64)) -> f64| {
            arithmetic_mean(&pairs.iter().map(value).collect::<Vec<_>>())
        };
        let bootstrap = Bootstrap {
            level: self.level,
            seed: self.seed,
            ..Bootstrap::default()
        };
        let (p_value, is_exact) = self.tested(&differences);
        let count = |is: fn(f64) -> bool| differences.iter().filter(|value| is(**value)).count();
        Some(PairedDifference {
            n: pairs.len(),
            before: mean(|pair| pair.0)?,
            after: mean(|pair| pair.1)?,
            difference: arithmetic_mean(&differences)?,
            interval: bootstrap.percentile_interval(&differences),
            p_value,
            is_exact,
            method: method(pairs),
            greater: count(|value| value > 0.0),
            less: count(|value| value < 0.0),
        })
    }

    /// The two-sided p value of differences, as in [`PairedDifference::p_value`]. `None` without differences, or if one is not finite.
    ///
    /// ```
    /// use evals_metrics::PairedTest;
    ///
    /// // Six cases, all of them worse: two of the 2^6 ways to swap their sides are as extreme.
    /// assert_eq!(PairedTest::default().p_value(&[-0.5; 6]), Some(2.0 / 64.0));
    /// ```
    pub fn p_value(&self, differences: &[f64]) -> Option<f64> {
        self.p_value_of(differences).map(|(p_value, _)| p_value)
    }

    /// The p value, and whether it is exact. `None` without differences, or if one is not finite.
    pub(crate) fn p_value_of(&self, differences: &[f64]) -> Option<(f64, bool)> {
        let is_tested = !differences.is_empty() && differences.iter().all(|it| it.is_finite());
        is_tested.then(|| self.tested(differences))
    }

    /// The p value, and whether it is exact. Unchanged cases do not matter, because 0 has no sign.
    fn tested(&self, differences: &[f64]) -> (f64, bool) {
        let mut sizes: Vec<f64> = differences.iter().map(|value| value.abs()).collect();
        sizes.retain(|size| *size > 0.0);
        sizes.sort_unstable_by(|left, right| right.total_cmp(left));
        let (Some(&largest), Some(&least)) = (sizes.first(), sizes.last()) else {
            return (1.0, true);
        };
        // Sizes of at most 1 keep the sums of the largest values finite.
        let signed = differences.iter().map(|value| value / largest);
        let observed = signed.fold(0.0, |sum, value| sum + value).abs();
        for size in &mut sizes {
            *size /= largest;
        }
        if largest - least <= ROUNDING * largest {
            let greater = differences.iter().filter(|value| **value > 0.0).count();
            return (
                (2.0 * at_most(greater.min(sizes.len() - greater), sizes.len())).min(1.0),
                true,
            );
        }
        let total: f64 = sizes.iter().sum();
        let threshold = observed - ROUNDING * total;
        if sizes.len() <= ENUMERATED {
            let extreme = extremes(&sizes, 0.0, total, threshold);
            return (extreme / 2_f64.powi(exponent(sizes.len())), true);
        }
        let swaps = f64::from(self.resamples.get());
        if exceeding(&sizes, threshold) * swaps <= UNSEEN {
            return (1.0 / (swaps + 1.0), false);
        }
        let mut random = Xoshiro256PlusPlus::seeded(self.seed);
        let swapped = (0..self.resamples.get()).filter(|_| {
            let sum = randomly_signed_sum(&sizes, &mut random);
            sum.abs() >= threshold
        });
        let extreme = as_f64(swapped.count());
        ((extreme + 1.0) / (swaps + 1.0), false)
    }
}

/// The name of the test: for passes and failures, swapping sides is McNemar's exact test.
#[expect(
    clippy::float_cmp,
    reason = "a pass is exactly 1 and a failure exactly 0"
)]
fn method(pairs: &[(f64, f64)]) -> TestMethod {
    let is_verdict = |value: f64| value == 0.0 || value == 1.0;
    let are_verdicts = |(before, after): &(f64, f64)| is_verdict(*before) && is_verdict(*after);
    if pairs.iter().all(are_verdicts) {
        TestMethod::ExactMcNemar
    } else {
        TestMethod::Randomization
    }
}

/// The second value minus the first. 0 if they differ only by rounding, as means over different numbers of repetitions may.
///
/// ```
/// let mean = [0.2; 7].iter().sum::<f64>() / 7.0;
/// assert!(mean > 0.2 || mean < 0.2);
/// assert_eq!(evals_metrics::difference(0.2, mean), 0.0);
/// ```
pub fn difference(before: f64, after: f64) -> f64 {
    let difference = after - before;
    let size = before.abs().max(after.abs());
    if size.is_finite() && difference.abs() <= ROUNDING * size {
        0.0
    } else {
        difference
    }
}

/// Counts the ways to give `sizes` signs and add them to `sum` whose result is at least `threshold` away from 0. `rest` is
/// the sum of the sizes.
fn extremes(sizes: &[f64], sum: f64, rest: f64, threshold: f64) -> f64 {
    let ways = || 2_f64.powi(exponent(sizes.len()));
    if sum.abs() - rest >= threshold {
        return ways();
    }
    if sum.abs() + rest < threshold {
        return 0.0;
    }
    match sizes {
        [] => 0.0,
        [size, others @ ..] => {
            let rest = rest - size;
            extremes(others, sum + size, rest, threshold)
                + extremes(others, sum - size, rest, threshold)
        }
    }
}

/// At least the probability that the sizes with random signs add up to a sum that is `threshold` or more away from 0.
///
/// Source: Hoeffding, "Probability Inequalities for Sums of Bounded Random Variables" (1963), theorem 2.
fn exceeding(sizes: &[f64], threshold: f64) -> f64 {
    let squares: f64 = sizes.iter().map(|size| size * size).sum();
    2.0 * (-threshold.max(0.0).powi(2) / (2.0 * squares)).exp()
}

fn exponent(length: usize) -> i32 {
    i32::try_from(length).expect("few sizes are enumerated")
}

/// The sum of `sizes` with signs drawn at random, 64 from each number. It keeps several running sums, because each addition
/// has to wait for the previous one.
fn randomly_signed_sum(sizes: &[f64], random: &mut Xoshiro256PlusPlus) -> f64 {
    let mut sums = [0.0; 8];
    for sizes in sizes.chunks(64) {
        let signs = random.next();
        let signed =
            |place: usize, size: f64| f64::from_bits(size.to_bits() | ((signs >> place) << 63));
        let (whole, rest) = sizes.as_chunks::<8>();
        for (group, sizes) in whole.iter().enumerate() {
            for (lane, size) in sizes.iter().enumerate() {
                sums[lane] += signed(8 * group + lane, *size);
            }
        }
        for (lane, size) in rest.iter().enumerate() {
            sums[lane] += signed(8 * whole.len() + lane, *size);
        }
    }
    sums.iter().sum()
}

/// Holm's correction for several tests. If no change has an effect, the probability that any adjusted p value is below a
/// level is at most that level. Keeps the order of the input, whose values must be in [0, 1].
///
/// Source: Holm, "A Simple Sequentially Rejective Multiple Test Procedure" (1979).
///
/// ```
/// let adjusted = evals_metrics::holm(&[0.01, 0.04, 0.03]);
/// assert_eq!(adjusted, [0.03, 0.06, 0.06]);
/// ```
pub fn holm(p_values: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p_values.len()).collect();
    order.sort_by(|&left, &right| p_values[left].total_cmp(&p_values[right]));
    let mut adjusted = vec![0.0; p_values.len()];
    let mut least = 0.0_f64;
    for (rank, position) in order.into_iter().enumerate() {
        let left = as_f64(p_values.len() - rank);
        least = least.max((left * p_values[position]).min(1.0));
        adjusted[position] = least;
    }
    adjusted
}
