//! Why a pass rate cannot be corrected.

use thiserror::Error;

use crate::NoAgreement;

/// Why a pass rate cannot be corrected for the errors of its judge.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
#[non_exhaustive]
pub enum NoCorrection {
    /// There is no rate to correct.
    #[error("the run has no verdict of the judge")]
    NoVerdicts,
    /// Fewer labels than [`JudgeLabels::FEWEST`](super::JudgeLabels::FEWEST) say next to nothing about a judge.
    #[error("{n} labelled answers are fewer than the {least} that a correction needs")]
    FewLabels {
        /// The number of labelled answers.
        n: usize,
        /// The least number.
        least: usize,
    },
    /// How often the judge passes good answers is unknown.
    #[error(
        "people passed none of the labelled answers, so how often the judge passes good answers is unknown"
    )]
    NoPasses,
    /// How often the judge fails bad answers is unknown.
    #[error(
        "people failed none of the labelled answers, so how often the judge fails bad answers is unknown"
    )]
    NoFails,
    /// The judge's verdicts say nothing about people's, or the opposite.
    #[error(
        "TPR {true_pass_rate:.2} and TNR {true_fail_rate:.2} add up to 1 or less: the judge is no better than chance"
    )]
    Uninformative {
        /// The share of answers passed by people that the judge passes.
        true_pass_rate: f64,
        /// The share of answers failed by people that the judge fails.
        true_fail_rate: f64,
    },
    /// The rates of the judge are undefined for another reason.
    #[error(transparent)]
    Agreement(#[from] NoAgreement),
    /// There are more labels for a verdict than the run has answers with it.
    #[error("more answers are labelled than the run has verdicts")]
    MoreLabelsThanAnswers,
    /// The unlabelled answers are no random sample of the run.
    #[error(
        "labels drawn by verdict need double sampling rather than prediction-powered inference"
    )]
    DrawnByVerdict,
    /// A label, prediction or weight is NaN or infinite, or a weight is not above 0.
    #[error("a label, a prediction or a weight is not a finite number, or a weight is not above 0")]
    NotFinite,
    /// Every labelled value is the same.
    #[error("all labels are equal, so they show no spread")]
    OneLabel,
    /// Nothing is known about the spread between clusters.
    #[error("all labels are about one cluster of questions")]
    OneCluster,
    /// A confidence level is not between 0 and 1.
    #[error("the confidence level is not between 0 and 1")]
    Level,
}
