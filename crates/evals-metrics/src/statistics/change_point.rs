//! Pettitt's test: at which place of a series does its level change?

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

use super::moments::{check_finite, check_level};
use super::{NoStatistic, TestMethod, TestResult};
use crate::arithmetic::{RESAMPLES, arithmetic_mean, as_f64, p_value_of_draws};
use crate::random::Xoshiro256PlusPlus;

/// Pettitt's test for a change of level in a series, such as the means of a measure over runs in time.
///
/// ```text
/// U_k = 2 Σ_{i ≤ k} r_i - k (n + 1),   K = max |U_k|
/// ```
///
/// where r are the ranks of the values, tied ones with their mean rank. The statistic is K, and the change lies between the k-th
/// value and the next. The p value is that of random orders of the same values, so it holds for short series and ties, for which
/// Pettitt's approximation does not.
///
/// The test takes the values for independent and looks for one step. It knows only ranks: neither how precise a value is nor how
/// far it moved. A slow drift looks like a step in its middle.
///
/// Sources: Pettitt, "A Non-Parametric Approach to the Change-Point Problem", Applied Statistics 28 (1979); for the p value, Phipson
/// and Smyth (2010). The statistic and the place equal `pettitt_test` of pyhomogeneity.
///
/// ```
/// use evals_metrics::ChangePointTest;
///
/// let means = [0.71, 0.70, 0.72, 0.71, 0.69, 0.64, 0.63, 0.65, 0.62, 0.64];
/// let found = ChangePointTest::default().find(&means)?;
/// assert_eq!((found.first_after, found.test.statistic), (5, 25.0));
/// assert!(found.test.p_value < 0.02);
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ChangePointTest {
    /// The number of random orders. Default: 10,000.
    pub permutations: NonZeroU32,
    /// Seeds the random numbers. Default: 0.
    pub seed: u64,
}

/// The most likely place of a change, and whether chance explains it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ChangePoint {
    /// The index of the first value after the change; indices start at 0.
    pub first_after: usize,
    /// The mean of the values before.
    pub before: f64,
    /// The mean of the values after.
    pub after: f64,
    /// The test.
    pub test: TestResult,
}

impl Default for ChangePointTest {
    fn default() -> Self {
        Self {
            permutations: RESAMPLES,
            seed: 0,
        }
    }
}

impl ChangePointTest {
    /// Shorter series cannot show a change at the 5 % level, however clear it is.
    pub const SHORTEST: usize = 8;

    /// The most likely change of a series in order of time.
    ///
    /// # Errors
    ///
    /// Undefined below 8 values, if one is not finite, and where all are equal.
    pub fn find(&self, values: &[f64]) -> Result<ChangePoint, NoStatistic> {
        check_finite(values)?;
        let n = values.len();
        if n < Self::SHORTEST {
            return Err(NoStatistic::TooFew {
                n,
                least: Self::SHORTEST,
            });
        }
        let mut scores = centered_ranks(values);
        if scores.iter().all(|score| *score == 0) {
            return Err(NoStatistic::NoSpread);
        }
        let (first_after, furthest) = furthest(&scores);
        let mut random = Xoshiro256PlusPlus::seeded(self.seed);
        let as_far = (0..self.permutations.get()).filter(|_| {
            shuffle(&mut scores, &mut random);
            self::furthest(&scores).1 >= furthest
        });
        let p_value = p_value_of_draws(as_far.count(), self.permutations.get());
        let (before, after) = values.split_at(first_after);
        Ok(ChangePoint {
            first_after,
            before: arithmetic_mean(before).ok_or(NoStatistic::NoValues)?,
            after: arithmetic_mean(after).ok_or(NoStatistic::NoValues)?,
            test: TestResult {
                method: TestMethod::Pettitt,
                n,
                statistic: as_f64(furthest),
                degrees: None,
                is_exact: false,
                p_value,
            },
        })
    }

    /// All changes of a series whose p value is at most `significance`, in order of time: the series is split at its most likely
    /// change, and each part is searched in turn (binary segmentation). Parts below 8 values, or of equal values, are not
    /// searched. Indices count from the start of the series, and the tests and means are those of the part.
    ///
    /// The p values are not corrected for the number of parts.
    ///
    /// # Errors
    ///
    /// As [`find`](Self::find) for the whole series, and at a significance level outside 0 to 1.
    ///
    /// Source: Vostrikova, "Detecting Disorder in Multidimensional Random Processes", Soviet Mathematics Doklady 24 (1981).
    pub fn find_all(
        &self,
        values: &[f64],
        significance: f64,
    ) -> Result<Vec<ChangePoint>, NoStatistic> {
        check_level(significance)?;
        let whole = self.find(values)?;
        let mut found = Vec::new();
        let mut parts = vec![(0, values.len(), Ok(whole))];
        while let Some((start, end, change)) = parts.pop() {
            let change = match change {
                Ok(change) if change.test.p_value <= significance => change,
                _ => continue,
            };
            let first_after = start + change.first_after;
            found.push(ChangePoint {
                first_after,
                ..change
            });
            for (start, end) in [(start, first_after), (first_after, end)] {
                parts.push((start, end, self.find(&values[start..end])));
            }
        }
        found.sort_by_key(|change| change.first_after);
        Ok(found)
    }
}

/// Twice the ranks of the values minus their mean: whole numbers, whose sum is 0.
fn centered_ranks(values: &[f64]) -> Vec<i64> {
    let count = |is: &dyn Fn(f64) -> bool| values.iter().filter(|value| is(**value)).count();
    let rank = |value: &f64| {
        let (less, more) = (
            count(&|other| other < *value),
            count(&|other| other > *value),
        );
        i64::try_from(less).expect("few values") - i64::try_from(more).expect("few values")
    };
    values.iter().map(rank).collect()
}

/// The number of values before the largest absolute sum of leading scores, and that sum.
fn furthest(scores: &[i64]) -> (usize, usize) {
    let mut best = (0, 0);
    let mut sum = 0_i64;
    for (index, score) in scores.iter().enumerate() {
        sum += score;
        let distance = usize::try_from(sum.unsigned_abs()).expect("few values");
        if distance > best.1 {
            best = (index + 1, distance);
        }
    }
    best
}

fn shuffle(scores: &mut [i64], random: &mut Xoshiro256PlusPlus) {
    for last in (1..scores.len()).rev() {
        let [other, _] = random.index_pair(last + 1);
        scores.swap(last, other);
    }
}
