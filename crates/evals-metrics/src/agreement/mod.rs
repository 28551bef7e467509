//! How far the verdicts of a judge agree with the labels of people, and people with each other.

mod confusion;
mod graded;
mod kappa;
mod people;
mod raters;
mod roc;
mod stratified;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use thiserror::Error;

pub use confusion::Confusion;
pub use graded::{GradePair, GradedAgreement, graded_agreement};
pub use people::PeopleAgreement;
pub use raters::{cohens_kappa_of_pairs, equal_pairs, krippendorffs_alpha};
pub use roc::roc_area;

use self::kappa::cohens_kappa;
use crate::Interval;
use crate::arithmetic::share;
use crate::wilson::wilson_interval;

/// Agreement of a judge with people, who are taken to be right.
///
/// ```
/// use evals_metrics::{Agreement, Confusion};
///
/// let labels = Confusion { true_passes: 40, false_passes: 9, false_fails: 1, true_fails: 10 };
/// let found = Agreement::of_sample(&labels, 0.95);
/// let shown = |share: f64| format!("{share:.2}");
/// assert_eq!(shown(found.agreement?.value), "0.83");
/// assert_eq!(shown(found.kappa?.value), "0.57");
/// assert_eq!(shown(found.true_pass_rate?.value), "0.98");
/// assert_eq!(shown(found.true_fail_rate?.value), "0.53");
/// # Ok::<(), evals_metrics::NoAgreement>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Agreement {
    /// The number of answers with a label and a verdict.
    pub n: usize,
    /// The share of answers that people and the judge gave the same verdict.
    pub agreement: Result<Estimate, NoAgreement>,
    /// Cohen's kappa: agreement beyond chance. 1 is agreement in every answer, 0 what chance gives.
    pub kappa: Result<Estimate, NoAgreement>,
    /// TPR, the sensitivity: the share of answers passed by people that the judge passes too.
    pub true_pass_rate: Result<Estimate, NoAgreement>,
    /// TNR, the specificity: the share of answers failed by people that the judge fails too.
    pub true_fail_rate: Result<Estimate, NoAgreement>,
}

/// A statistic with its interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Estimate {
    /// The value.
    pub value: f64,
    /// The number of labelled answers behind it: for a rate, the answers that people gave that verdict.
    pub n: usize,
    /// The confidence interval, or `None` if the labels show no spread.
    pub interval: Option<Interval>,
}

/// How many answers of a run the judge passed and failed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct VerdictCounts {
    /// The answers that it passed.
    #[serde(deserialize_with = "answers")]
    pub passes: usize,
    /// The answers that it failed.
    #[serde(deserialize_with = "answers")]
    pub fails: usize,
}

/// Reads a number of answers. Sums of counts up to this limit do not overflow.
fn answers<'de, D: Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let count = usize::deserialize(deserializer)?;
    match u32::try_from(count) {
        Ok(_) => Ok(count),
        Err(_) => Err(D::Error::custom("this is more answers than a run can have")),
    }
}

/// Why a statistic of agreement has no value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Error)]
#[non_exhaustive]
pub enum NoAgreement {
    /// There is nothing to compare.
    #[error("no answer has both a label and a verdict")]
    NoAnswers,
    /// The rate is a share of the answers that people passed.
    #[error("no labelled answer was passed by people")]
    NoPasses,
    /// The rate is a share of the answers that people failed.
    #[error("no labelled answer was failed by people")]
    NoFails,
    /// Kappa cannot tell agreement from chance.
    #[error("both sides gave every labelled answer the same verdict")]
    OneVerdict,
    /// A stratum of the sample is empty.
    #[error("no answer that the judge passed has a label")]
    NoJudgePasses,
    /// A stratum of the sample is empty.
    #[error("no answer that the judge failed has a label")]
    NoJudgeFails,
}

impl Agreement {
    /// Agreement in answers that are all of a run or a random sample of it.
    ///
    /// Shares get Wilson's score interval. For kappa and its interval see Fleiss, Cohen and Everitt, "Large Sample Standard Errors
    /// of Kappa and Weighted Kappa", Psychological Bulletin 72 (1969). There is no interval of kappa if all verdicts agree, or if
    /// one side gave a single verdict, because the formula would give one of width 0.
    pub fn of_sample(labels: &Confusion, level: f64) -> Self {
        let rate = |same: usize, of: usize, none: NoAgreement| {
            if of == 0 {
                return Err(none);
            }
            Ok(Estimate {
                value: share(same, of),
                n: of,
                interval: Some(wilson_interval(same, of, level)),
            })
        };
        let same = labels.true_passes + labels.true_fails;
        Self {
            n: labels.n(),
            agreement: rate(same, labels.n(), NoAgreement::NoAnswers),
            kappa: cohens_kappa(labels, level),
            true_pass_rate: rate(
                labels.true_passes,
                labels.people_pass(),
                NoAgreement::NoPasses,
            ),
            true_fail_rate: rate(
                labels.true_fails,
                labels.people_fail(),
                NoAgreement::NoFails,
            ),
        }
    }

    /// Agreement over a run whose judge passed and failed `run` answers, from answers drawn separately among the passed and the
    /// failed ones.
    ///
    /// Such a sample holds more answers of the rarer verdict than the run does, so its own rates are biased: if half of the
    /// labels are of failed answers, but a tenth of the run failed, errors among the failed ones count five times too much.
    /// Each labelled answer therefore has the weight `N_h / n_h`: of the `N_h` answers to which the judge gave the verdict h,
    /// `n_h` are labelled, so this is the inverse of the probability of a label. With `p_1` and `p_0`, the shares that people
    /// pass among the labelled answers that the judge passed and failed, and `W_h = N_h / N`:
    ///
    /// ```text
    /// agreement = W_1 p_1 + W_0 (1 - p_0)
    /// TPR       = W_1 p_1 / (W_1 p_1 + W_0 p_0)
    /// TNR       = W_0 (1 - p_0) / (W_0 (1 - p_0) + W_1 (1 - p_1))
    /// κ         = (agreement - e) / (1 - e),   e = W_1 q + W_0 (1 - q),   q = W_1 p_1 + W_0 p_0
    /// ```
    ///
    /// The probability is the realised one, because people stop halfway through a queue, or cannot say. It is right for a random
    /// sample too, so samples of both kinds can be pooled. If the judge gave one verdict only, this is
    /// [`of_sample`](Self::of_sample).
    ///
    /// All four statistics rise with `p_1` and fall with `p_0`. Their intervals propagate the Wilson intervals of both shares:
    /// the lower limit is the least value over all divisions of the normal quantile z into z sin θ for `p_1` and z cos θ for
    /// `p_0`. Unlike the delta method, this gives no interval of width 0 where a stratum has no error.
    ///
    /// Sources: Begg and Greenes, "Assessment of Diagnostic Tests When Disease Verification Is Subject to Selection Bias",
    /// Biometrics 39 (1983); Newcombe, "Propagating Imprecision: Combining Confidence Intervals from Independent Sources",
    /// Communications in Statistics 40 (2011).
    pub fn stratified(labels: &Confusion, run: VerdictCounts, level: f64) -> Self {
        if run.passes == 0 || run.fails == 0 {
            return Self::of_sample(labels, level);
        }
        stratified::agreement(labels, run, level)
    }
}
