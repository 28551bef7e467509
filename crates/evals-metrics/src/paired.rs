//! Two measurements of the same cases: their mean change, and the paired randomization test.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use crate::arithmetic::{RANDOM_SWAPS, ROUNDING, arithmetic_mean, p_value_of_draws};
use crate::random::Xoshiro256PlusPlus;
use crate::statistics::{
    Alternative, Inference, NoStatistic, PairTest, TestMethod, TestResult, are_verdicts, at_most,
    exact_mcnemar,
};
use crate::{Interval, Scale};

/// Up to this many non-zero differences, the test enumerates all signs: 2^20 sums take milliseconds.
const ENUMERATED: usize = 20;

/// If the test expects fewer extreme swaps than this among all random ones, it draws no swaps and returns the least p value.
const UNSEEN: f64 = 1e-3;

/// The expected number of extreme swaps at the level of significance. A p value from fewer extreme swaps is rough.
const EXTREME_SWAPS: f64 = 10.0;

/// Tests whether chance explains the difference between two measurements of the same cases, and says how far the true difference may be
/// off, both by one method: see [`infer`](Self::infer).
///
/// [`PairTest::Randomization`] is Fisher's test: if a change has no effect, the two values of each case are interchangeable. The test swaps them
/// case by case, in all ways or at random, and counts how often the mean difference is at least as far from 0 as the observed one. It assumes
/// nothing about the distribution of the values. For passes and failures it equals McNemar's exact test.
///
/// Sources: Fisher, *The Design of Experiments* (1935), section 21; Smucker, Allan and Carterette, "A Comparison of Statistical
/// Significance Tests for Information Retrieval Evaluation" (CIKM 2007); for the p value of random swaps, Phipson and Smyth,
/// "Permutation P-values Should Never Be Zero" (2010).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PairedTest {
    /// The test. Default: [`PairTest::Auto`]. Files that name none are from before there was a choice.
    #[serde(default = "randomization")]
    pub method: PairTest,
    /// How many random draws of signs the randomization test uses if there are too many cases to enumerate. Default: 100,000.
    pub resamples: NonZeroU32,
    /// The confidence level of the interval, between 0 and 1, both excluded. Default: 0.95.
    pub level: f64,
    /// Seeds the random numbers. Default: 0.
    pub seed: u64,
}

fn randomization() -> PairTest {
    PairTest::Randomization
}

impl Default for PairedTest {
    fn default() -> Self {
        Self {
            method: PairTest::default(),
            resamples: RANDOM_SWAPS,
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
    /// The confidence interval of the mean difference. It excludes 0 exactly if the p value is below 1 minus its level.
    pub interval: Option<Interval>,
    /// Why there is no interval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_interval: Option<NoStatistic>,
    /// The two-sided p value: the probability of a mean difference at least as far from 0 if the change has no effect. `None` if no case
    /// changed, or the test gives none.
    pub p_value: Option<f64>,
    /// Whether the p value is exact rather than an approximation or from random swaps.
    pub is_exact: bool,
    /// The method of the p value. `None` without a p value.
    #[serde(default = "of_old_files")]
    pub method: Option<TestMethod>,
    /// How many cases have a greater second value.
    pub greater: usize,
    /// How many cases have a smaller second value.
    pub less: usize,
}

/// The method of p values in files that name none.
#[expect(
    clippy::unnecessary_wraps,
    reason = "serde wants the type of the field"
)]
fn of_old_files() -> Option<TestMethod> {
    Some(TestMethod::Randomization)
}

impl PairedDifference {
    /// How many cases have equal values.
    pub fn equal(&self) -> usize {
        self.n - self.greater - self.less
    }
}

impl PairedTest {
    /// Compares the first and second value of each case: [`infer`](Self::infer) with the means. `None` if there is no case, or a value is not
    /// finite.
    ///
    /// ```
    /// use evals_metrics::{PairedTest, Scale};
    ///
    /// // Of nine cases that changed, eight now pass.
    /// let mut pairs = vec![(0.0, 1.0); 8];
    /// pairs.push((1.0, 0.0));
    /// pairs.extend([(1.0, 1.0); 20]);
    /// let change = PairedTest::default().compare(&pairs, None, Scale::Share).expect("finite values");
    /// assert_eq!(change.p_value.map(|p| format!("{p:.4}")).as_deref(), Some("0.0196"));
    /// assert_eq!((change.greater, change.less, change.equal()), (8, 1, 20));
    /// ```
    pub fn compare(
        &self,
        pairs: &[(f64, f64)],
        clusters: Option<&[usize]>,
        scale: Scale,
    ) -> Option<PairedDifference> {
        let found = self.infer(pairs, clusters, scale);
        PairedDifference::of(pairs, &found)
    }

    /// The randomization test of differences of these pairs.
    pub(crate) fn randomization_test(
        &self,
        pairs: &[(f64, f64)],
        differences: &[f64],
    ) -> Result<TestResult, NoStatistic> {
        let mean = arithmetic_mean(differences).ok_or(NoStatistic::NoValues)?;
        if differences.iter().all(|change| change.abs() <= 0.0) {
            return Err(NoStatistic::NothingChanged);
        }
        if are_verdicts(pairs) {
            let count = |is: fn(f64) -> bool| differences.iter().filter(|it| is(**it)).count();
            let [gained, lost] = [count(|it| it > 0.0), count(|it| it < 0.0)];
            return exact_mcnemar(gained, lost, Alternative::TwoSided);
        }
        let (p_value, is_exact) = self.p_value_of(differences).ok_or(NoStatistic::NotFinite)?;
        Ok(TestResult {
            method: TestMethod::Randomization,
            n: differences.len(),
            statistic: mean,
            degrees: None,
            is_exact,
            p_value,
        })
    }

    /// The two-sided p value of the randomization test of differences. `None` without differences, or if one is not finite. 1 if all are 0.
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

    /// The test with at least 10 / `significance` random swaps. The least p value of N random swaps is 1 / (N + 1), and a correction for
    /// several tests multiplies it.
    ///
    /// ```
    /// use evals_metrics::PairedTest;
    ///
    /// let test = PairedTest::default();
    /// // Holm's first step of 10 tests takes no more than the usual 100,000 swaps, and that of 5,000 tests takes a million.
    /// assert_eq!(test.resolving(0.05 / 10.0), test);
    /// assert_eq!(test.resolving(0.05 / 5_000.0).resamples.get(), 1_000_000);
    /// ```
    #[must_use]
    pub fn resolving(self, significance: f64) -> Self {
        let needed = (EXTREME_SWAPS / significance)
            .round()
            .min(f64::from(u32::MAX));
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a whole number from 0 to the largest of the type"
        )]
        let needed = NonZeroU32::new(needed as u32);
        Self {
            resamples: needed.map_or(self.resamples, |needed| self.resamples.max(needed)),
            ..self
        }
    }

    /// Whether more random swaps would make this p value of the test more precise: fewer than ten swaps were as extreme as the
    /// observed one. An exact p value stays the same.
    ///
    /// If a caller repeats exactly the tests for which this is true with more swaps, the p values stay valid at every level: below the p value
    /// of ten extreme swaps only the second test decides, and above it only the first one.
    pub fn is_rough(&self, p_value: f64) -> bool {
        p_value * (f64::from(self.resamples.get()) + 1.0) < EXTREME_SWAPS + 0.5
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
            return (p_value_of_draws(0, self.resamples.get()), false);
        }
        let mut random = Xoshiro256PlusPlus::seeded(self.seed);
        let swapped = (0..self.resamples.get()).filter(|_| {
            let sum = randomly_signed_sum(&sizes, &mut random);
            sum.abs() >= threshold
        });
        let p_value = p_value_of_draws(swapped.count(), self.resamples.get());
        (p_value, false)
    }
}

impl PairedDifference {
    /// The means of the pairs beside what a test found. `None` if there is no pair, or a value is not finite.
    pub fn of(pairs: &[(f64, f64)], found: &Inference) -> Option<Self> {
        let differences = pairs
            .iter()
            .map(|(before, after)| difference(*before, *after));
        let differences: Vec<f64> = differences.collect();
        if !differences.iter().all(|value| value.is_finite()) {
            return None;
        }
        let mean = |value: fn(&(f64, f64)) -> f64| {
            arithmetic_mean(&pairs.iter().map(value).collect::<Vec<_>>())
        };
        let count = |is: fn(f64) -> bool| differences.iter().filter(|value| is(**value)).count();
        let test = found.test.ok();
        Some(Self {
            n: pairs.len(),
            before: mean(|pair| pair.0)?,
            after: mean(|pair| pair.1)?,
            difference: arithmetic_mean(&differences)?,
            interval: found.interval.ok(),
            no_interval: found.interval.err(),
            p_value: test.map(|test| test.p_value),
            is_exact: test.is_some_and(|test| test.is_exact),
            method: test.map(|test| test.method),
            greater: count(|value| value > 0.0),
            less: count(|value| value < 0.0),
        })
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
