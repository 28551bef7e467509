//! Tango's score interval of the difference of two pass rates over the same cases.

use super::moments::check_level;
use super::{NoStatistic, TestMethod, TestResult};
use crate::arithmetic::as_f64;
use crate::distribution::{root, upper_quantile, upper_tail};
use crate::{Interval, IntervalMethod};

/// Tango's score interval of the change of a pass rate between two measurements of `cases` cases, of which `gained` failed
/// first and passed then, and `lost` passed first and failed then. The result is a share from -1 to 1.
///
/// The interval contains each change δ that a score test does not reject:
///
/// ```text
/// |gained - lost - nδ| / √(n (2q + δ(1 - δ))) <= z
/// q = (√(B² - 4AC) - B) / 2A,   A = 2n,   B = (2n - gained + lost) δ - gained - lost,   C = -lost δ(1 - δ)
/// ```
///
/// where z is the normal quantile of the level, and q the likeliest share of lost cases if the true change is δ. Student's t
/// estimates the spread from the observed changes, so its interval is too narrow if few cases change, and undefined if no case
/// changes. Tango's interval uses the spread that each δ would cause.
///
/// # Errors
///
/// Undefined without cases, with more changed cases than cases, and at a level outside 0 to 1.
///
/// Source: Tango, "Equivalence Test and Confidence Interval for the Difference in Proportions for the Paired-Sample Design",
/// Statistics in Medicine 17 (1998), pages 891 to 908.
///
/// ```
/// use evals_metrics::tango_interval;
///
/// let interval = tango_interval(0, 8, 300, 0.95)?;
/// assert_eq!(format!("[{:.4}, {:.4}]", interval.low, interval.high), "[-0.0517, -0.0136]");
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
pub fn tango_interval(
    gained: usize,
    lost: usize,
    cases: usize,
    level: f64,
) -> Result<Interval, NoStatistic> {
    check_level(level)?;
    if cases == 0 {
        return Err(NoStatistic::NoValues);
    }
    let changed = gained.checked_add(lost);
    if changed.is_none_or(|changed| changed > cases) {
        return Err(NoStatistic::AboveCases);
    }
    let z = upper_quantile((1.0 - level) / 2.0);
    let counts = [as_f64(gained), as_f64(lost), as_f64(cases)];
    Ok(Interval {
        low: lower_limit(counts, z),
        high: -lower_limit([counts[1], counts[0], counts[2]], z),
        level,
        method: IntervalMethod::Tango,
    })
}

/// The score test of Tango's interval against a change of 0, which is McNemar's test without a correction for continuity. The interval excludes
/// 0 exactly if the p value is below 1 minus its level.
///
/// The statistic is `(gained - lost) / √(gained + lost)`, which is normal if nothing changed.
///
/// # Errors
///
/// Undefined without cases, with more changed cases than cases, and if no case changed.
///
/// Equals `statsmodels.stats.contingency_tables.mcnemar` with `exact=False, correction=False`.
pub(super) fn tango_test(
    gained: usize,
    lost: usize,
    cases: usize,
) -> Result<TestResult, NoStatistic> {
    let changed = gained.checked_add(lost).ok_or(NoStatistic::AboveCases)?;
    match changed {
        _ if cases == 0 => return Err(NoStatistic::NoValues),
        _ if changed > cases => return Err(NoStatistic::AboveCases),
        0 => return Err(NoStatistic::NothingChanged),
        _ => {}
    }
    let z = (as_f64(gained) - as_f64(lost)) / as_f64(changed).sqrt();
    Ok(TestResult {
        method: TestMethod::Tango,
        n: cases,
        statistic: z,
        degrees: None,
        is_exact: false,
        p_value: (2.0 * upper_tail(z.abs())).min(1.0),
    })
}

/// The lower end. The upper end is minus the lower end with gains and losses exchanged.
fn lower_limit(counts: [f64; 3], z: f64) -> f64 {
    let [gained, lost, cases] = counts;
    if lost >= cases {
        return -1.0;
    }
    root(
        |change| bounded_score(counts, change) - z / z.hypot(1.0),
        -1.0,
        (gained - lost) / cases,
    )
}

/// The score T as T / √(1 + T²), which is finite even if the variance is 0. It falls from 1 at a change of -1 to 0 at the observed
/// change.
fn bounded_score([gained, lost, cases]: [f64; 3], change: f64) -> f64 {
    let distance = gained - lost - cases * change;
    if distance == 0.0 {
        return 0.0;
    }
    // Swapping gains and losses does not change the variance. If the change is at least 0, C is not above 0, so no cancellation occurs.
    let variance = if change < 0.0 {
        variance([lost, gained, cases], -change)
    } else {
        variance([gained, lost, cases], change)
    };
    distance / distance.hypot(variance.sqrt())
}

/// The variance of the number of gains less losses, if the true change is `change`, which is at least 0.
fn variance([gained, lost, cases]: [f64; 3], change: f64) -> f64 {
    let a = 2.0 * cases;
    let b = (2.0 * cases - gained + lost) * change - gained - lost;
    let c = -lost * change * (1.0 - change);
    let discriminant = (b * b - 4.0 * a * c).sqrt();
    let likeliest_lost = if b > 0.0 {
        -2.0 * c / (b + discriminant)
    } else {
        (discriminant - b) / (2.0 * a)
    };
    cases * (2.0 * likeliest_lost + change * (1.0 - change))
}
