//! Rogan and Gladen's correction of a pass rate.

use super::corrected_rate::Variance;
use super::judge_labels::{check_labels, raw_rate};
use super::{CorrectedRate, JudgeLabels, NoCorrection};
use crate::arithmetic::{as_f64, share};
use crate::distribution::upper_quantile;
use crate::{Confusion, Interval, IntervalMethod, VerdictCounts};

/// The pass rate of a run, corrected for the errors of its judge by Rogan and Gladen's formula.
///
/// ```text
/// corrected = (p + TNR - 1) / (TPR + TNR - 1)
/// ```
///
/// where p is the judge's pass rate. The labelled answers may come from another run, if the judge, its prompt and the kind of
/// answers are the same: the formula assumes that TPR and TNR carry over. If they are answers of this run, use
/// [`double_sampling`](super::double_sampling), which is more precise.
///
/// The interval is an adjusted Wald interval, which holds the uncertainty of the run and of the labels. For labels of random
/// answers it adds z²/2 passes and fails to the run and one of each to TPR and TNR, and moves the centre by
/// `2 z² (θ V(TPR) - (1 - θ) V(TNR))`. For labels drawn by verdict, TPR and TNR depend on each other; the delta method starts
/// from the shares that people pass among the answers that the judge passed and failed, each with one pass and one fail more.
///
/// # Errors
///
/// Refuses fewer than 20 labels, labels of one kind, a run without verdicts, and a judge with TPR + TNR of 1 or less.
///
/// Sources: Rogan and Gladen, "Estimating Prevalence from the Results of a Screening Test", American Journal of Epidemiology 107
/// (1978); Lang and Reiczigel, "Confidence Limits for Prevalence of Disease Adjusted for Estimated Sensitivity and Specificity",
/// Preventive Veterinary Medicine 113 (2014); Lee et al., "How to Correctly Report LLM-as-a-Judge Evaluations", arXiv 2511.21140,
/// whose code (`llm_judge_reporting`) gives the same numbers for random answers.
///
/// ```
/// use evals_metrics::{Confusion, JudgeLabels, VerdictCounts, rogan_gladen};
///
/// let labels = Confusion { true_passes: 90, false_passes: 30, false_fails: 10, true_fails: 70 };
/// let run = VerdictCounts { passes: 400, fails: 600 };
/// let found = rogan_gladen(&JudgeLabels::Random(labels), run, 0.95)?;
/// assert_eq!(format!("{:.3}", found.value), "0.167");
/// assert_eq!(format!("[{:.3}, {:.3}]", found.interval.low, found.interval.high), "[0.014, 0.290]");
/// # Ok::<(), evals_metrics::NoCorrection>(())
/// ```
pub fn rogan_gladen(
    labels: &JudgeLabels,
    run: VerdictCounts,
    level: f64,
) -> Result<CorrectedRate, NoCorrection> {
    let confusion = labels.confusion();
    check_labels(confusion, level)?;
    let raw = raw_rate(run, level)?;
    let agreement = labels.agreement(level);
    let plain = Rates {
        pass: raw.value,
        true_pass: agreement.true_pass_rate?.value,
        true_fail: agreement.true_fail_rate?.value,
    };
    plain.check()?;
    let z = upper_quantile((1.0 - level) / 2.0);
    let (center, variance) = match labels {
        JudgeLabels::ByVerdict { drawn_from, .. }
            if drawn_from.passes > 0 && drawn_from.fails > 0 =>
        {
            by_verdict(confusion, *drawn_from, run, z)?
        }
        _ => random(confusion, run, z)?,
    };
    let reach = z * variance.total().sqrt();
    Ok(CorrectedRate {
        raw,
        value: plain.corrected().clamp(0.0, 1.0),
        interval: Interval {
            low: (center - reach).clamp(0.0, 1.0),
            high: (center + reach).clamp(0.0, 1.0),
            level,
            method: IntervalMethod::RoganGladen,
        },
        labels: confusion.n(),
        labels_for_half: variance.labels_for_half(confusion.n()),
    })
}

/// The judge's pass rate, and how often it is right about answers that people pass and fail.
#[derive(Debug, Clone, Copy)]
struct Rates {
    pass: f64,
    true_pass: f64,
    true_fail: f64,
}

impl Rates {
    /// TPR + TNR - 1: 1 for a perfect judge, 0 for one that guesses.
    fn informedness(&self) -> f64 {
        self.true_pass + self.true_fail - 1.0
    }

    fn check(&self) -> Result<(), NoCorrection> {
        // A judge that guesses may be a rounding error above 0.
        if self.informedness() <= 1e-12 {
            return Err(NoCorrection::Uninformative {
                true_pass_rate: self.true_pass,
                true_fail_rate: self.true_fail,
            });
        }
        Ok(())
    }

    fn corrected(&self) -> f64 {
        (self.pass + self.true_fail - 1.0) / self.informedness()
    }
}

/// The centre and the variance for labels of random answers: Lee et al., equation 6.
fn random(labels: &Confusion, run: VerdictCounts, z: f64) -> Result<(f64, Variance), NoCorrection> {
    let (pass, n) = adjusted_pass_rate(run, z);
    let [passed, failed] = [labels.people_pass(), labels.people_fail()];
    let rates = Rates {
        pass,
        true_pass: share(labels.true_passes + 1, passed + 2),
        true_fail: share(labels.true_fails + 1, failed + 2),
    };
    rates.check()?;
    let corrected = rates.corrected();
    let true_pass = bernoulli(rates.true_pass) / as_f64(passed + 2);
    let true_fail = bernoulli(rates.true_fail) / as_f64(failed + 2);
    let shift = 2.0 * z * z * (corrected * true_pass - (1.0 - corrected) * true_fail);
    let scale = rates.informedness().powi(2);
    let variance = Variance {
        labels: (corrected.powi(2) * true_pass + (1.0 - corrected).powi(2) * true_fail) / scale,
        run: bernoulli(pass) / n / scale,
    };
    Ok((corrected + shift, variance))
}

/// The centre and the variance for labels drawn by verdict: the delta method over four independent shares.
fn by_verdict(
    labels: &Confusion,
    drawn_from: VerdictCounts,
    run: VerdictCounts,
    z: f64,
) -> Result<(f64, Variance), NoCorrection> {
    let (pass, n) = adjusted_pass_rate(run, z);
    let answers = drawn_from.passes + drawn_from.fails;
    let passing = share(drawn_from.passes, answers);
    let failing = 1.0 - passing;
    let [of_passed, of_failed] = [labels.judge_passes() + 2, labels.judge_fails() + 2];
    let good_of_passed = share(labels.true_passes + 1, of_passed);
    let good_of_failed = share(labels.false_fails + 1, of_failed);
    let (bad_of_passed, bad_of_failed) = (1.0 - good_of_passed, 1.0 - good_of_failed);
    let good = passing * good_of_passed + failing * good_of_failed;
    let rates = Rates {
        pass,
        true_pass: passing * good_of_passed / good,
        true_fail: failing * bad_of_failed / (1.0 - good),
    };
    rates.check()?;
    let corrected = rates.corrected();
    // The derivatives of TPR and TNR by a share, weighted by their effect on the corrected rate.
    let pull = |true_pass: f64, true_fail: f64| {
        ((1.0 - corrected) * true_fail / (1.0 - good).powi(2)
            - corrected * true_pass / good.powi(2))
        .powi(2)
    };
    let both = passing * failing;
    let by_good_of_passed = pull(both * good_of_failed, both * bad_of_failed);
    let by_good_of_failed = pull(-both * good_of_passed, -both * bad_of_passed);
    let by_passing = pull(
        good_of_passed * good_of_failed,
        -bad_of_passed * bad_of_failed,
    );
    let scale = rates.informedness().powi(2);
    let variance = Variance {
        labels: (by_good_of_passed * bernoulli(good_of_passed) / as_f64(of_passed)
            + by_good_of_failed * bernoulli(good_of_failed) / as_f64(of_failed))
            / scale,
        run: (bernoulli(pass) / n + by_passing * both / as_f64(answers)) / scale,
    };
    Ok((corrected, variance))
}

/// The judge's pass rate with z²/2 passes and as many fails more, and its number of verdicts.
fn adjusted_pass_rate(run: VerdictCounts, z: f64) -> (f64, f64) {
    let n = as_f64(run.passes + run.fails) + z * z;
    ((as_f64(run.passes) + z * z / 2.0) / n, n)
}

/// The variance of a single pass or failure.
fn bernoulli(rate: f64) -> f64 {
    rate * (1.0 - rate)
}
