//! The sign test, and McNemar's test, which is the sign test of passes and failures.

use super::paired_t::all_zero;
use super::{Alternative, NoStatistic, TestMethod, TestResult};
use crate::arithmetic::as_f64;

/// How many halvings of 1 one step can apply without underflow.
const HALVINGS: usize = 500;

/// The exact sign test: are more differences positive than negative, or fewer?
///
/// The statistic is the number of positive differences. Differences of 0 are left out. The test ignores how large differences
/// are, so it has little power for measures of many values.
///
/// # Errors
///
/// Undefined without values and where all differences are 0.
///
/// Source: Arbuthnot (1710), as in Conover, *Practical Nonparametric Statistics* (1999), section 3.4. Equals
/// `scipy.stats.binomtest(positive, changed)`.
pub fn sign_test(differences: &[f64], alternative: Alternative) -> Result<TestResult, NoStatistic> {
    if all_zero(differences)? {
        return Err(NoStatistic::NothingChanged);
    }
    let count = |is: fn(f64) -> bool| differences.iter().filter(|value| is(**value)).count();
    Ok(tosses(
        TestMethod::Sign,
        count(|value| value > 0.0),
        count(|value| value < 0.0),
        alternative,
    ))
}

/// McNemar's exact test: of the cases whose verdict changed, `gained` passed only afterwards and `lost` only before.
///
/// The statistic is `gained`.
///
/// # Errors
///
/// Undefined if no verdict changed.
///
/// Source: McNemar, "Note on the Sampling Error of the Difference between Correlated Proportions or Percentages",
/// Psychometrika 12 (1947), with the binomial distribution. Equals `statsmodels.stats.contingency_tables.mcnemar` with
/// `exact=True`.
///
/// ```
/// use evals_metrics::{Alternative, exact_mcnemar};
///
/// let result = exact_mcnemar(8, 1, Alternative::TwoSided)?;
/// assert_eq!(result.p_value, 20.0 / 512.0);
/// assert_eq!(result.method.to_string(), "exact McNemar test");
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
pub fn exact_mcnemar(
    gained: usize,
    lost: usize,
    alternative: Alternative,
) -> Result<TestResult, NoStatistic> {
    if gained + lost == 0 {
        return Err(NoStatistic::NothingChanged);
    }
    Ok(tosses(TestMethod::ExactMcNemar, gained, lost, alternative))
}

fn tosses(method: TestMethod, heads: usize, tails: usize, alternative: Alternative) -> TestResult {
    let n = heads + tails;
    TestResult {
        method,
        n,
        statistic: as_f64(heads),
        degrees: None,
        is_exact: true,
        p_value: alternative.p_value(at_most(heads, n), at_most(tails, n)),
    }
}

/// The probability that `n` fair tosses show heads at most `heads` times.
pub(crate) fn at_most(heads: usize, n: usize) -> f64 {
    // For large n, binomial coefficients overflow and 2^-n underflows. The terms therefore start from a smaller power of
    // two, and the remaining halvings follow later.
    let halvings = n.min(HALVINGS);
    let mut term = power_of_half(halvings);
    let mut left = n - halvings;
    let mut tail = term;
    for k in 0..heads {
        term *= as_f64(n - k) / as_f64(k + 1);
        tail += term;
        while left > 0 && tail > 1.0 {
            let step = left.min(HALVINGS);
            let scale = power_of_half(step);
            term *= scale;
            tail *= scale;
            left -= step;
        }
    }
    while left > 0 && tail > 0.0 {
        let step = left.min(HALVINGS);
        tail *= power_of_half(step);
        left -= step;
    }
    tail.min(1.0)
}

fn power_of_half(halvings: usize) -> f64 {
    0.5_f64.powi(i32::try_from(halvings).expect("a step has few halvings"))
}
