//! Prediction-powered inference: a mean from few labels and many predictions.

use serde::{Deserialize, Serialize};

use super::corrected_rate::Variance;
use super::judge_labels::check_labels;
use super::{JudgeLabels, NoCorrection};
use crate::arithmetic::as_f64;
use crate::distribution::upper_quantile;
use crate::{Interval, IntervalMethod, VerdictCounts};

/// A labelled answer: the value that people gave it and the one that the judge predicts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LabelledValue {
    /// The value by people.
    pub label: f64,
    /// The value by the judge.
    pub prediction: f64,
    /// The inverse of the probability that this answer was labelled, in any unit; 1 for answers drawn at random.
    pub weight: f64,
}

/// A mean from few labels and many predictions.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PredictionPowered {
    /// The mean of the values that people would give.
    pub value: f64,
    /// The confidence interval, by the normal approximation. Not cut to the range of the values.
    pub interval: Interval,
    /// The weight λ of the predictions: 0 ignores them, and 1 trusts them as the labels allow at most.
    pub weight: f64,
    /// The number of labelled answers.
    pub labels: usize,
    /// The number of answers that have a prediction only.
    pub unlabelled: usize,
    /// About how many labels would give an interval of half the width. `None` if no number would, because there are too few
    /// predictions.
    pub labels_for_half: Option<usize>,
}

/// The mean of the values that people would give, from labelled answers and the judge's predictions for others: PPI++.
///
/// ```text
/// value = λ mean(f') + mean(y - λ f)
/// λ     = cov(y, f) / ((1 + n / N) var(f)),   cut to 0 and 1
/// ```
///
/// where y are the n labels, f their predictions and f' the N predictions without a label. The interval is normal with the
/// variance `λ² var(f') / N + var(y - λ f) / n`. Nothing is assumed about the judge: predictions that say nothing get the weight 0, and
/// the estimate is the mean of the labels. It assumes that both groups of answers are random samples of the same answers, or that
/// the weights make them so. Predictions that are all equal get the weight 0.
///
/// The normal approximation is too narrow for few labels near 0 or 1. For passes and failures of one run,
/// [`double_sampling`](super::double_sampling) has the same point estimate in large samples and the better interval.
///
/// # Errors
///
/// Refuses fewer than 20 labels, equal labels, a run without further predictions, and numbers that are not finite.
///
/// Source: Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference", arXiv 2311.01453. Equals
/// `ppi_mean_ci` of ppi-python 0.2.3.
pub fn prediction_powered(
    labelled: &[LabelledValue],
    unlabelled: &[f64],
    level: f64,
) -> Result<PredictionPowered, NoCorrection> {
    check(labelled, unlabelled, level)?;
    let (n, others) = (as_f64(labelled.len()), as_f64(unlabelled.len()));
    let scale = n / labelled.iter().map(|answer| answer.weight).sum::<f64>();
    let weighted = |value: fn(&LabelledValue) -> f64| -> Vec<f64> {
        let answers = labelled.iter();
        answers
            .map(|answer| scale * answer.weight * value(answer))
            .collect()
    };
    let (labels, predictions) = (weighted(|it| it.label), weighted(|it| it.prediction));
    let weights = weighted(|_| 1.0);
    let others_mean = mean(unlabelled);

    let start = others_mean + mean(&labels) - mean(&predictions);
    let centered = |values: &[f64]| -> Vec<f64> {
        let pairs = values.iter().zip(&weights);
        pairs
            .map(|(value, weight)| value - weight * start)
            .collect()
    };
    let (label_gradients, prediction_gradients) = (centered(&labels), centered(&predictions));
    let covariance = covariance(&label_gradients, &prediction_gradients);
    let mut all_predictions = prediction_gradients;
    all_predictions.extend(unlabelled.iter().map(|value| value - start));
    let all = as_f64(all_predictions.len());
    let spread = variance(&all_predictions) * all / (all - 1.0);
    let weight = if spread > 0.0 {
        (covariance / ((1.0 + n / others) * spread)).clamp(0.0, 1.0)
    } else {
        0.0
    };

    let corrections: Vec<f64> = labels
        .iter()
        .zip(&predictions)
        .map(|(label, prediction)| label - weight * prediction)
        .collect();
    let value = weight * others_mean + mean(&corrections);
    let variance = Variance {
        labels: variance(&corrections) / n,
        run: weight * weight * variance(unlabelled) / others,
    };
    let reach = upper_quantile((1.0 - level) / 2.0) * variance.total().sqrt();
    Ok(PredictionPowered {
        value,
        interval: around(value, reach, level),
        weight,
        labels: labelled.len(),
        unlabelled: unlabelled.len(),
        labels_for_half: variance.labels_for_half(labelled.len()),
    })
}

/// The pass rate that people would give a run, by [`prediction_powered`], from labels of some of its answers, drawn at random.
///
/// # Errors
///
/// As [`prediction_powered`], and for a run without further answers, or with fewer answers than labels. Labels of one kind are
/// refused by their kind. Labels drawn by verdict are refused: weighted by their drawing, they have the judge's own pass rate, so
/// that the estimate is that of [`double_sampling`](super::double_sampling) for every λ, and its interval is the right one.
pub fn prediction_powered_rate(
    labels: &JudgeLabels,
    run: VerdictCounts,
    level: f64,
) -> Result<PredictionPowered, NoCorrection> {
    let JudgeLabels::Random(counts) = labels else {
        return Err(NoCorrection::DrawnByVerdict);
    };
    check_labels(counts, level)?;
    let [passes, fails] = [
        (run.passes, counts.judge_passes()),
        (run.fails, counts.judge_fails()),
    ]
    .map(|(answers, labelled)| answers.checked_sub(labelled));
    let (passes, fails) = passes
        .zip(fails)
        .ok_or(NoCorrection::MoreLabelsThanAnswers)?;
    let groups = [
        (counts.true_passes, 1.0, 1.0),
        (counts.false_passes, 0.0, 1.0),
        (counts.false_fails, 1.0, 0.0),
        (counts.true_fails, 0.0, 0.0),
    ];
    let labelled: Vec<LabelledValue> = groups
        .into_iter()
        .flat_map(|(count, label, prediction)| {
            let answer = LabelledValue {
                label,
                prediction,
                weight: 1.0,
            };
            std::iter::repeat_n(answer, count)
        })
        .collect();
    let mut others = vec![1.0; passes];
    others.resize(passes + fails, 0.0);
    prediction_powered(&labelled, &others, level)
}

fn check(labelled: &[LabelledValue], unlabelled: &[f64], level: f64) -> Result<(), NoCorrection> {
    if !(level > 0.0 && level < 1.0) {
        return Err(NoCorrection::Level);
    }
    let is_valid = |answer: &LabelledValue| {
        answer.label.is_finite()
            && answer.prediction.is_finite()
            && answer.weight.is_finite()
            && answer.weight > 0.0
    };
    if !labelled.iter().all(is_valid) || !unlabelled.iter().all(|value| value.is_finite()) {
        return Err(NoCorrection::NotFinite);
    }
    if labelled.len() < JudgeLabels::FEWEST {
        return Err(NoCorrection::FewLabels {
            n: labelled.len(),
            least: JudgeLabels::FEWEST,
        });
    }
    if unlabelled.is_empty() {
        return Err(NoCorrection::NoVerdicts);
    }
    let first = labelled[0].label;
    if labelled
        .iter()
        .all(|answer| (answer.label - first).abs() <= 0.0)
    {
        return Err(NoCorrection::OneLabel);
    }
    Ok(())
}

/// The interval that reaches as far to both sides.
pub(super) fn around(value: f64, reach: f64, level: f64) -> Interval {
    Interval {
        low: value - reach,
        high: value + reach,
        level,
        method: IntervalMethod::PredictionPowered,
    }
}

pub(super) fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / as_f64(values.len())
}

/// The variance with n in the denominator, as in the published code.
fn variance(values: &[f64]) -> f64 {
    covariance(values, values)
}

fn covariance(left: &[f64], right: &[f64]) -> f64 {
    let (left_mean, right_mean) = (mean(left), mean(right));
    let products = left.iter().zip(right);
    let sum: f64 = products
        .map(|(left, right)| (left - left_mean) * (right - right_mean))
        .sum();
    sum / as_f64(left.len())
}
