//! Student's t test of paired values.

use super::moments::Moments;
use super::{Alternative, NoStatistic, TestMethod, TestResult};
use crate::distribution::student_upper_tail;

/// Student's t test: do the differences of paired values have a mean other than 0?
///
/// ```text
/// t = mean / (s / √n),   n - 1 degrees of freedom
/// ```
///
/// It assumes that the mean of the differences is close to normal, which skewed differences of few cases are not.
///
/// # Errors
///
/// Undefined without values, for one value, and where all differences are equal (0 or not): the statistic then has no limit.
///
/// Source: Student, "The Probable Error of a Mean", Biometrika 6 (1908). Equals `scipy.stats.ttest_rel`.
///
/// ```
/// use evals_metrics::{Alternative, paired_t};
///
/// let result = paired_t(&[0.1, 0.3, -0.1, 0.4, 0.2], Alternative::TwoSided)?;
/// assert_eq!(format!("{:.3} {:.3}", result.statistic, result.p_value), "2.092 0.105");
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
pub fn paired_t(differences: &[f64], alternative: Alternative) -> Result<TestResult, NoStatistic> {
    if all_zero(differences)? {
        return Err(NoStatistic::NothingChanged);
    }
    let moments = Moments::of(differences)?;
    Ok(t_test(
        TestMethod::PairedT,
        moments.n,
        moments.t(),
        moments.degrees(),
        alternative,
    ))
}

pub(super) fn t_test(
    method: TestMethod,
    n: usize,
    t: f64,
    degrees: f64,
    alternative: Alternative,
) -> TestResult {
    TestResult {
        method,
        n,
        statistic: t,
        degrees: Some(degrees),
        is_exact: false,
        p_value: alternative.p_value(
            student_upper_tail(-t, degrees),
            student_upper_tail(t, degrees),
        ),
    }
}

/// Whether all differences are 0.
pub(super) fn all_zero(differences: &[f64]) -> Result<bool, NoStatistic> {
    super::moments::check_finite(differences)?;
    Ok(differences.iter().all(|difference| difference.abs() <= 0.0))
}
