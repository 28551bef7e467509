//! Effect sizes of paired differences: how large a change is, in standard deviations.

use serde::{Deserialize, Serialize};

use super::NoStatistic;
use super::moments::{Moments, check_level};
use super::paired_t::all_zero;
use crate::arithmetic::as_f64;
use crate::distribution::{gamma_ratio_of_half, noncentral_t_cdf, root, upper_quantile};
use crate::{Interval, IntervalMethod};

/// Beyond this t, the noncentral t distribution takes too many terms, for an effect that needs no interval.
const FURTHEST: f64 = 1_000.0;

/// A standardised effect size with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct EffectSize {
    /// The measure of effect size.
    pub method: EffectMethod,
    /// The number of cases.
    pub n: usize,
    /// The effect in standard deviations of the differences.
    pub value: f64,
    /// The confidence interval from the noncentral t distribution. It assumes normal differences. `None` where the mean is
    /// more than 1,000 standard errors from 0.
    pub interval: Option<Interval>,
}

/// A measure of effect size.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum EffectMethod {
    /// Cohen's d of paired differences, `d_z`.
    #[serde(rename = "cohens-dz")]
    CohensDz,
    /// Hedges' g of paired differences: `d_z` without its bias in small samples.
    HedgesG,
}

/// Cohen's `d_z`: the mean of the differences as a multiple of their standard deviation.
///
/// ```text
/// d_z = mean / s
/// ```
///
/// The interval inverts the noncentral t distribution of `d_z √n`.
///
/// # Errors
///
/// Undefined without values, for one value, where all differences are equal, and at a level outside 0 to 1.
///
/// Sources: Cohen, *Statistical Power Analysis for the Behavioral Sciences* (1988), section 2.3.5; for the interval, Steiger and
/// Fouladi, "Noncentrality Interval Estimation and the Evaluation of Statistical Models" (1997).
///
/// ```
/// use evals_metrics::cohens_dz;
///
/// let effect = cohens_dz(&[0.1, 0.3, -0.1, 0.4, 0.2], 0.95)?;
/// assert_eq!(format!("{:.3}", effect.value), "0.936");
/// let interval = effect.interval.expect("a t of 2");
/// assert_eq!(format!("[{:.2}, {:.2}]", interval.low, interval.high), "[-0.18, 1.98]");
/// # Ok::<(), evals_metrics::NoStatistic>(())
/// ```
pub fn cohens_dz(differences: &[f64], level: f64) -> Result<EffectSize, NoStatistic> {
    check_level(level)?;
    if all_zero(differences)? {
        return Err(NoStatistic::NothingChanged);
    }
    let moments = Moments::of(differences)?;
    let root_n = as_f64(moments.n).sqrt();
    let interval = (moments.t().abs() <= FURTHEST).then(|| {
        let (low, high) = noncentrality_limits(moments.t(), moments.degrees(), level);
        Interval {
            low: low / root_n,
            high: high / root_n,
            level,
            method: IntervalMethod::NoncentralT,
        }
    });
    Ok(EffectSize {
        method: EffectMethod::CohensDz,
        n: moments.n,
        value: moments.mean / moments.deviation,
        interval,
    })
}

/// Hedges' g of paired differences: Cohen's `d_z` times the factor J, which removes its bias in small samples.
///
/// ```text
/// g = J d_z,   J = Γ(m / 2) / (√(m / 2) Γ((m - 1) / 2)),   m = n - 1
/// ```
///
/// The interval is that of `d_z` times J.
///
/// # Errors
///
/// As [`cohens_dz`], and for two values, whose J is 0.
///
/// Source: Hedges, "Distribution Theory for Glass's Estimator of Effect Size and Related Estimators", Journal of Educational
/// Statistics 6 (1981), equation 6e.
pub fn hedges_g(differences: &[f64], level: f64) -> Result<EffectSize, NoStatistic> {
    let d = cohens_dz(differences, level)?;
    if d.n < 3 {
        return Err(NoStatistic::TooFew { n: d.n, least: 3 });
    }
    let half = as_f64(d.n - 1) / 2.0;
    let correction = 1.0 / (gamma_ratio_of_half(half - 0.5) * half.sqrt());
    Ok(EffectSize {
        method: EffectMethod::HedgesG,
        n: d.n,
        value: correction * d.value,
        interval: d.interval.map(|interval| Interval {
            low: correction * interval.low,
            high: correction * interval.high,
            ..interval
        }),
    })
}

/// The noncentralities at which the observed t has a probability of half the error on either side.
fn noncentrality_limits(t: f64, degrees: f64, level: f64) -> (f64, f64) {
    let tail = (1.0 - level) / 2.0;
    let at = |probability: f64| {
        let excess = |noncentrality: f64| noncentral_t_cdf(t, degrees, noncentrality) - probability;
        let mut reach = (upper_quantile(tail) + 1.0) * (1.0 + t * t / (2.0 * degrees)).sqrt();
        while excess(t - reach) < 0.0 || excess(t + reach) > 0.0 {
            reach *= 2.0;
        }
        root(excess, t - reach, t + reach)
    };
    (at(1.0 - tail), at(tail))
}
