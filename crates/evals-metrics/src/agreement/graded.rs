//! How far a judge agrees with people on grades.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Estimate, NoAgreement};
use crate::arithmetic::as_f64;
use crate::{ClusterCorrection, Clusters};

/// A grade by people and by the judge for the same pair of question and passage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradePair {
    /// The number of the question: pairs with one number may depend on each other.
    pub question: usize,
    /// The grade by people.
    pub people: u8,
    /// The grade by the judge.
    pub judge: u8,
    /// The inverse of the probability that the pair was drawn for people, in any unit; 1 if all were equally likely.
    pub weight: f64,
}

/// How much different grades disagree, in a weighted kappa.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum KappaWeights {
    /// Any two grades by 1: Cohen's plain kappa.
    Equal,
    /// By their distance.
    Linear,
    /// By the square of their distance, so that far misses count most.
    #[default]
    Quadratic,
}

impl KappaWeights {
    fn disagreement(self, one: u8, other: u8) -> f64 {
        let distance = f64::from(one.abs_diff(other));
        match self {
            Self::Equal => distance.min(1.0),
            Self::Linear => distance,
            Self::Quadratic => distance * distance,
        }
    }
}

/// Agreement of a judge with people on grades.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct GradedAgreement {
    /// How often each grade of people met each grade of the judge: `counts[people][judge]`, from grade 0 to the highest one.
    pub counts: Vec<Vec<usize>>,
    /// The share of pairs with equal grades, weighted by the drawing.
    pub equal: Estimate,
    /// The weighted kappa. `None` if both gave every pair one and the same grade, so that agreement cannot be told from chance.
    pub kappa: Option<Estimate>,
}

/// Agreement of a judge with people on grades: the counts, the share of equal grades, and a weighted kappa.
///
/// ```text
/// κ_w = 1 - Σ v_ij p_ij / Σ v_ij p_i. p_.j
/// ```
///
/// where `p_ij` is the share of pairs that people gave grade i and the judge grade j, and `v_ij` the disagreement of the two grades. 1 is
/// agreement in every pair, and 0 what chance gives. With equal weights it is [`cohens_kappa_of_pairs`](super::cohens_kappa_of_pairs).
///
/// The intervals are Student's t with the cluster-robust standard error CR2 over questions, of the linearised statistic. Pairs of a
/// question are judged against the same need, so intervals that take them for independent are too narrow. There is no interval for a
/// single question, and where all pairs agree.
///
/// # Errors
///
/// There are no pairs, or a weight is not a finite number above 0.
///
/// Sources: Cohen, "Weighted Kappa: Nominal Scale Agreement with Provision for Scaled Disagreement or Partial Credit", Psychological
/// Bulletin 70 (1968); for the linearisation, Fleiss, Cohen and Everitt, "Large Sample Standard Errors of Kappa and Weighted Kappa",
/// Psychological Bulletin 72 (1969). The values equal scikit-learn's `cohen_kappa_score`.
///
/// ```
/// use evals_metrics::{GradePair, KappaWeights, graded_agreement};
///
/// let grades = [(0, 0), (0, 1), (1, 1), (2, 3), (3, 3), (0, 0), (1, 2), (3, 1)];
/// let pairs = grades.iter().zip([0, 0, 1, 1, 2, 2, 3, 3]);
/// let pairs: Vec<GradePair> = pairs
///     .map(|(&(people, judge), question)| GradePair { question, people, judge, weight: 1.0 })
///     .collect();
/// let found = graded_agreement(&pairs, KappaWeights::Quadratic, 0.95)?;
/// assert_eq!(found.counts[0], [2, 1, 0, 0]);
/// assert_eq!(found.equal.value, 0.5);
/// assert_eq!(found.kappa.map(|kappa| format!("{:.3}", kappa.value)).as_deref(), Some("0.674"));
/// # Ok::<(), evals_metrics::NoAgreement>(())
/// ```
pub fn graded_agreement(
    pairs: &[GradePair],
    weights: KappaWeights,
    level: f64,
) -> Result<GradedAgreement, NoAgreement> {
    if pairs.is_empty() {
        return Err(NoAgreement::NoAnswers);
    }
    if !pairs
        .iter()
        .all(|pair| pair.weight.is_finite() && pair.weight > 0.0)
    {
        return Err(NoAgreement::Weight);
    }
    let highest = pairs.iter().map(|pair| pair.people.max(pair.judge)).max();
    let grades = usize::from(highest.unwrap_or(0)) + 1;
    let mut counts = vec![vec![0; grades]; grades];
    for pair in pairs {
        counts[usize::from(pair.people)][usize::from(pair.judge)] += 1;
    }
    let sum: f64 = pairs.iter().map(|pair| pair.weight).sum();
    let scaled = |pair: &GradePair| pair.weight / sum;

    let equal: f64 = pairs
        .iter()
        .filter(|pair| pair.people == pair.judge)
        .map(scaled)
        .sum();
    let equal = estimate(pairs, equal, (0.0, level), |pair| {
        scaled(pair) * (f64::from(u8::from(pair.people == pair.judge)) - equal)
    });
    Ok(GradedAgreement {
        counts,
        equal,
        kappa: kappa(pairs, weights, level, scaled),
    })
}

/// The weighted kappa, unless both sides know one grade only.
fn kappa(
    pairs: &[GradePair],
    weights: KappaWeights,
    level: f64,
    scaled: impl Fn(&GradePair) -> f64,
) -> Option<Estimate> {
    let mut people: BTreeMap<u8, f64> = BTreeMap::new();
    let mut judge: BTreeMap<u8, f64> = BTreeMap::new();
    let mut observed = 0.0;
    for pair in pairs {
        *people.entry(pair.people).or_default() += scaled(pair);
        *judge.entry(pair.judge).or_default() += scaled(pair);
        observed += scaled(pair) * weights.disagreement(pair.people, pair.judge);
    }
    let by_chance = |grade: u8, other: &BTreeMap<u8, f64>| -> f64 {
        let grades = other.iter();
        grades
            .map(|(other, share)| share * weights.disagreement(grade, *other))
            .sum()
    };
    let expected: f64 = people
        .iter()
        .map(|(grade, share)| share * by_chance(*grade, &judge))
        .sum();
    if expected <= 0.0 {
        return None;
    }
    let value = 1.0 - observed / expected;
    // The derivative of the quotient by the share of the pair's cell.
    Some(estimate(pairs, value, (-1.0, level), |pair| {
        let own = weights.disagreement(pair.people, pair.judge) - observed;
        let chance = by_chance(pair.people, &judge) + by_chance(pair.judge, &people);
        scaled(pair) * ((1.0 - value) * (chance - 2.0 * expected) - own) / expected
    }))
}

/// A statistic with its interval, from the influence that each pair has on it.
fn estimate(
    pairs: &[GradePair],
    value: f64,
    (least, level): (f64, f64),
    influence: impl Fn(&GradePair) -> f64,
) -> Estimate {
    let n = as_f64(pairs.len());
    let parts = pairs
        .iter()
        .map(|pair| (pair.question, value + n * influence(pair)));
    let interval = Clusters::new(parts).interval(ClusterCorrection::Cr2, level);
    Estimate {
        value,
        n: pairs.len(),
        interval: interval.ok().map(|interval| interval.within(least, 1.0)),
    }
}

impl GradedAgreement {
    /// How far the judge's value of a pair is expected to be from people's, if the judge gave it this grade: the root of the mean square, with half a
    /// pair added to every grade of people so that no grade counts as certain. `value` says what a grade is worth, such as 1 if
    /// relevant. The size of a pair for a [`Drawing`](crate::Drawing).
    pub fn expected_error(&self, judge: u8, value: impl Fn(u8) -> f64) -> f64 {
        let (mut sum, mut squares) = (0.0, 0.0);
        for (grade, row) in (0..=u8::MAX).zip(&self.counts) {
            let count = as_f64(row.get(usize::from(judge)).copied().unwrap_or(0)) + 0.5;
            sum += count;
            squares += count * (value(grade) - value(judge)).powi(2);
        }
        (squares / sum).sqrt()
    }
}
