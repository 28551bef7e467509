//! Wilcoxon's signed rank test.

use super::paired_t::all_zero;
use super::{Alternative, NoStatistic, TestMethod, TestResult};
use crate::arithmetic::{ROUNDING, as_f64};
use crate::distribution::{lower_tail, upper_tail};

/// Up to this many differences other than 0, the p value is exact.
const EXACT: usize = 25;

/// Wilcoxon's signed rank test: are the differences symmetric around 0?
///
/// The statistic is the sum of the ranks of positive differences. Differences of 0 are left out (Wilcoxon's own rule, scipy's
/// `zero_method="wilcox"`), and tied sizes share their mean rank.
///
/// With up to 25 differences the p value is exact ([`TestMethod::Wilcoxon`]): it is computed over all signs of the observed ranks,
/// ties included. Above, it is the normal approximation with corrections for ties and continuity
/// ([`TestMethod::WilcoxonNormal`]).
///
/// It tests for a shift of symmetric differences, not of their mean: if a few cases get much worse and many a little better, the
/// mean falls, and the test may still report a gain.
///
/// # Errors
///
/// Undefined without values and where all differences are 0.
///
/// Source: Wilcoxon, "Individual Comparisons by Ranking Methods", Biometrics Bulletin 1 (1945). Equals `scipy.stats.wilcoxon`:
/// `method="exact"` without ties, an exhaustive `PermutationMethod` with ties (where scipy's `"exact"` rounds the statistic),
/// and `method="asymptotic", correction=True` above 25 differences.
///
/// ```
/// use evals_metrics::{Alternative, TestMethod, wilcoxon};
///
/// let result = wilcoxon(&[0.2, 0.4, -0.1, 0.0, 0.3, 0.5], Alternative::TwoSided)?;
/// assert_eq!((result.method, result.n), (TestMethod::Wilcoxon, 5));
/// assert_eq!((result.statistic, result.p_value), (14.0, 0.125));
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
pub fn wilcoxon(differences: &[f64], alternative: Alternative) -> Result<TestResult, NoStatistic> {
    if all_zero(differences)? {
        return Err(NoStatistic::NothingChanged);
    }
    let ranks = SignedRanks::of(differences);
    let is_exact = ranks.doubled.len() <= EXACT;
    let (method, [lower, upper]) = if is_exact {
        (TestMethod::Wilcoxon, ranks.exact_tails())
    } else {
        (TestMethod::WilcoxonNormal, ranks.normal_tails(alternative))
    };
    Ok(TestResult {
        method,
        n: ranks.doubled.len(),
        statistic: as_f64(ranks.positive) / 2.0,
        degrees: None,
        is_exact,
        p_value: alternative.p_value(lower, upper),
    })
}

/// The ranks of the sizes of differences other than 0. All are doubled, because tied sizes may share half a rank.
struct SignedRanks {
    doubled: Vec<usize>,
    /// The doubled ranks of positive differences, added up.
    positive: usize,
    /// `Σ(t³ - t)` over the numbers t of tied sizes.
    ties: f64,
}

impl SignedRanks {
    fn of(differences: &[f64]) -> Self {
        let mut changed: Vec<f64> = differences.to_vec();
        changed.retain(|difference| difference.abs() > 0.0);
        changed.sort_unstable_by(|left, right| left.abs().total_cmp(&right.abs()));
        let mut ranks = Self {
            doubled: Vec::with_capacity(changed.len()),
            positive: 0,
            ties: 0.0,
        };
        let tied = |left: &f64, right: &f64| right.abs() - left.abs() <= ROUNDING * right.abs();
        for group in changed.chunk_by(tied) {
            let before = ranks.doubled.len();
            let doubled = 2 * before + group.len() + 1;
            let positive = group.iter().filter(|difference| **difference > 0.0).count();
            ranks.positive += positive * doubled;
            ranks.doubled.resize(before + group.len(), doubled);
            let t = as_f64(group.len());
            ranks.ties += t * t * t - t;
        }
        ranks
    }

    /// The probabilities of a sum at most, and at least, as large as the observed one, over all signs.
    fn exact_tails(&self) -> [f64; 2] {
        let total: usize = self.doubled.iter().sum();
        let mut ways = vec![0.0; total + 1];
        ways[0] = 1.0;
        let mut reached = 0;
        for rank in &self.doubled {
            for sum in (0..=reached).rev() {
                ways[sum + rank] += ways[sum];
            }
            reached += rank;
        }
        let all = 2_f64.powi(i32::try_from(self.doubled.len()).expect("few ranks are exact"));
        [
            ways[..=self.positive].iter().sum::<f64>() / all,
            ways[self.positive..].iter().sum::<f64>() / all,
        ]
    }

    fn normal_tails(&self, alternative: Alternative) -> [f64; 2] {
        let n = as_f64(self.doubled.len());
        let mean = n * (n + 1.0) / 4.0;
        let variance = (n * (n + 1.0) * (2.0 * n + 1.0) - self.ties / 2.0) / 24.0;
        let distance = as_f64(self.positive) / 2.0 - mean;
        let correction = match alternative {
            Alternative::TwoSided if distance.abs() <= 0.0 => 0.0,
            Alternative::TwoSided => 0.5_f64.copysign(distance),
            Alternative::Greater => 0.5,
            Alternative::Less => -0.5,
        };
        let z = (distance - correction) / variance.sqrt();
        [lower_tail(z), upper_tail(z)]
    }
}
