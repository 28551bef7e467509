//! The pass rate of a run, of whose answers people labelled some.

use super::corrected_rate::Variance;
use super::judge_labels::{check_labels, raw_rate};
use super::{CorrectedRate, NoCorrection};
use crate::arithmetic::{as_f64, share};
use crate::distribution::upper_quantile;
use crate::wilson::wilson_limits;
use crate::{Confusion, Interval, IntervalMethod, NoAgreement, VerdictCounts};

/// The pass rate of a run, corrected by labels of its own answers.
///
/// ```text
/// corrected = W p_1 + (1 - W) p_0
/// ```
///
/// where W is the judge's pass rate in the run, and `p_1` and `p_0` are the shares that people pass among the labelled answers that
/// the judge passed and failed. The labelled answers may be drawn at random, or separately among those that the judge passed and
/// failed. Nothing is assumed about the judge: a bad one only makes the interval wider. For random answers this is the
/// maximum-likelihood estimate.
///
/// The interval propagates the Wilson intervals of the three shares: each end's distance from the estimate is the root of the
/// summed squares of their distances. It is about the answers that the system would give to questions of this kind, not only
/// about those of the run.
///
/// # Errors
///
/// Refuses fewer than 20 labels, labels of one kind, a run without verdicts, more labels than answers, and labels that lack one
/// of the judge's two verdicts.
///
/// Sources: Tenenbein, "A Double Sampling Scheme for Estimating from Binomial Data with Misclassifications", Journal of the
/// American Statistical Association 65 (1970); for the interval, Zou and Donner, "Construction of Confidence Limits about Effect
/// Measures: A General Approach", Statistics in Medicine 27 (2008).
///
/// ```
/// use evals_metrics::{Confusion, VerdictCounts, double_sampling};
///
/// let labels = Confusion { true_passes: 45, false_passes: 5, false_fails: 10, true_fails: 40 };
/// let run = VerdictCounts { passes: 900, fails: 100 };
/// let found = double_sampling(&labels, run, 0.95)?;
/// assert_eq!(format!("{:.2}", found.value), "0.83");
/// # Ok::<(), evals_metrics::NoCorrection>(())
/// ```
pub fn double_sampling(
    labels: &Confusion,
    run: VerdictCounts,
    level: f64,
) -> Result<CorrectedRate, NoCorrection> {
    check_labels(labels, level)?;
    let raw = raw_rate(run, level)?;
    if labels.judge_passes() > run.passes || labels.judge_fails() > run.fails {
        return Err(NoCorrection::MoreLabelsThanAnswers);
    }
    let z = upper_quantile((1.0 - level) / 2.0);
    let passed = Stratum::new(labels.true_passes, labels.judge_passes(), run.passes, z)
        .ok_or(NoAgreement::NoJudgePasses)?;
    let failed = Stratum::new(labels.false_fails, labels.judge_fails(), run.fails, z)
        .ok_or(NoAgreement::NoJudgeFails)?;
    let weights = [raw.value, 1.0 - raw.value];
    let value = weights[0] * passed.share + weights[1] * failed.share;
    let split = Stratum::new(run.passes, raw.n, raw.n, z).ok_or(NoCorrection::NoVerdicts)?;
    let contrast = passed.share - failed.share;
    let split = if contrast < 0.0 {
        split.mirrored()
    } else {
        split
    };
    let reach = |side: fn(&Stratum) -> f64| {
        let parts = [
            weights[0] * side(&passed),
            weights[1] * side(&failed),
            contrast * side(&split),
        ];
        parts.iter().map(|part| part * part).sum::<f64>().sqrt()
    };
    let variance = Variance {
        labels: weights[0].powi(2) * passed.variance + weights[1].powi(2) * failed.variance,
        run: contrast.powi(2) * split.variance,
    };
    Ok(CorrectedRate {
        raw,
        value,
        interval: Interval {
            low: (value - reach(|share| share.below)).max(0.0),
            high: (value + reach(|share| share.above)).min(1.0),
            level,
            method: IntervalMethod::PropagatedWilson,
        },
        labels: labels.n(),
        labels_for_half: variance.labels_for_half(labels.n()),
    })
}

/// A share with the distances to the ends of its Wilson interval.
struct Stratum {
    share: f64,
    below: f64,
    above: f64,
    variance: f64,
}

impl Stratum {
    /// `None` if answers exist of which none is labelled. A share of no answers has no weight and no error.
    fn new(passes: usize, labelled: usize, answers: usize, z: f64) -> Option<Self> {
        if labelled == 0 {
            return (answers == 0).then_some(Self {
                share: 0.0,
                below: 0.0,
                above: 0.0,
                variance: 0.0,
            });
        }
        let share = share(passes, labelled);
        let (low, high) = wilson_limits(passes, labelled, z);
        // As in Wilson's interval, z² more trials keep the variance of a share of 0 or 1 above 0.
        let trials = as_f64(labelled) + z * z;
        let center = (as_f64(passes) + z * z / 2.0) / trials;
        Some(Self {
            share,
            below: share - low,
            above: high - share,
            variance: center * (1.0 - center) / trials,
        })
    }

    /// The share of the other verdict.
    fn mirrored(self) -> Self {
        Self {
            share: 1.0 - self.share,
            below: self.above,
            above: self.below,
            variance: self.variance,
        }
    }
}
