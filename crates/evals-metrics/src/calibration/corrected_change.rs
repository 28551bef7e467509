//! The change that people would see between two runs, of which they labelled some questions.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::prediction_powered::{around, mean};
use super::{LabelledValue, NoCorrection, prediction_powered};
use crate::Interval;
use crate::arithmetic::as_f64;
use crate::distribution::student_upper_quantile;

/// A question that two runs answered: how its value changed, later run minus earlier run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JudgedChange {
    /// The change by the judge.
    pub judge: f64,
    /// The change by people; `None` unless they labelled both answers.
    pub people: Option<f64>,
    /// The number of the question's cluster. Questions of one cluster may depend on each other.
    pub cluster: usize,
}

/// The mean change that people would see.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CorrectedChange {
    /// The mean change that people would see.
    pub value: f64,
    /// The confidence interval.
    pub interval: Interval,
    /// The weight λ of the judge: 0 if its changes say nothing about those that people see.
    pub weight: f64,
    /// The number of questions with labels in both runs.
    pub labels: usize,
    /// The number of questions that the judge decided in both runs.
    pub questions: usize,
}

/// The mean change that people would see between two runs, by [`prediction_powered`] inference about the change of each question.
///
/// ```text
/// value    = λ mean(f') + mean(y - λ f)
/// variance = (Σ_g s_g² + 1 / n²) G / (G - 1)
/// ```
///
/// where y and f are the changes of the n labelled questions by people and by the judge, and f' those of the N others by the judge.
/// `s_g` sums `(y - λ f - mean) / n` and `λ (f' - mean) / N` over the questions of a cluster. The interval has the quantile of
/// Student's t with G - 1 degrees of freedom for G clusters with labels.
/// Without clusters and `1 / n²`, this is the variance of PPI++. `1 / n²` stands for one changed label more. Without it, the interval
/// would be too narrow where few answers changed, and would vanish where no labelled one did.
///
/// It assumes that the labelled questions are a random sample. Nothing is assumed about the judge.
///
/// # Errors
///
/// Refuses fewer than 20 labelled questions, labels of a single cluster, and numbers that are not finite.
///
/// Source: Angelopoulos, Duchi and Zrnic, "PPI++: Efficient Prediction-Powered Inference", arXiv 2311.01453, for value and λ.
///
/// ```
/// use evals_metrics::{JudgedChange, corrected_change};
///
/// // The judge likes 10 of 100 answers better. People labelled 40 of the questions, and see no change in any.
/// let questions: Vec<JudgedChange> = (0..100)
///     .map(|place| JudgedChange {
///         judge: if place % 10 == 0 { 1.0 } else { 0.0 },
///         people: (place < 40).then_some(0.0),
///         cluster: place,
///     })
///     .collect();
/// let found = corrected_change(&questions, 0.95)?;
/// assert_eq!(found.value, 0.0);
/// assert_eq!(format!("[{:.3}, {:.3}]", found.interval.low, found.interval.high), "[-0.051, 0.051]");
/// # Ok::<(), evals_metrics::NoCorrection>(())
/// ```
pub fn corrected_change(
    questions: &[JudgedChange],
    level: f64,
) -> Result<CorrectedChange, NoCorrection> {
    let labelled: Vec<LabelledValue> = questions
        .iter()
        .filter_map(|question| {
            Some(LabelledValue {
                label: question.people?,
                prediction: question.judge,
                weight: 1.0,
            })
        })
        .collect();
    let others = questions.iter().filter(|it| it.people.is_none());
    let others: Vec<f64> = others.map(|question| question.judge).collect();
    let weight = match prediction_powered(&labelled, &others, level) {
        Ok(found) => found.weight,
        // Every question is labelled, or no label says how to weigh the judge: the mean of the labels.
        Err(NoCorrection::NoVerdicts | NoCorrection::OneLabel) => 0.0,
        Err(reason) => return Err(reason),
    };
    let rest = labelled.iter().map(|it| it.label - weight * it.prediction);
    let rest = mean(&rest.collect::<Vec<f64>>());
    let others_mean = if others.is_empty() {
        0.0
    } else {
        mean(&others)
    };

    let (n, unlabelled) = (as_f64(labelled.len()), as_f64(others.len()));
    let mut sums: BTreeMap<usize, (f64, bool)> = BTreeMap::new();
    for question in questions {
        let (sum, has_labels) = sums.entry(question.cluster).or_default();
        match question.people {
            Some(label) => {
                *sum += (label - weight * question.judge - rest) / n;
                *has_labels = true;
            }
            None => *sum += weight * (question.judge - others_mean) / unlabelled,
        }
    }
    let clusters = as_f64(sums.values().filter(|(_, has_labels)| *has_labels).count());
    if clusters < 2.0 {
        return Err(NoCorrection::OneCluster);
    }
    let squares: f64 = sums.values().map(|(sum, _)| sum * sum).sum();
    let variance = (squares + 1.0 / (n * n)) * clusters / (clusters - 1.0);
    let value = weight * others_mean + rest;
    let reach = student_upper_quantile((1.0 - level) / 2.0, clusters - 1.0) * variance.sqrt();
    Ok(CorrectedChange {
        value,
        interval: around(value, reach, level),
        weight,
        labels: labelled.len(),
        questions: questions.len(),
    })
}
