//! How far a judge agrees with people on grades.

use super::{Estimate, NoAgreement};
use crate::arithmetic::{ROUNDING, as_f64};
use crate::{ClusterCorrection, Clusters};

/// A grade by people and by the judge for the same pair of question and passage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GradePair {
    /// The number of the question: pairs with one number may depend on each other.
    pub question: usize,
    /// The grade by people.
    pub people: u8,
    /// The grade by the judge.
    pub judge: u8,
}

/// Agreement of a judge with people on grades.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct GradedAgreement {
    /// The share of pairs with equal grades.
    pub equal: Estimate,
    /// The weighted kappa. `None` if both gave every pair one and the same grade, so that agreement cannot be told from chance.
    pub kappa: Option<Estimate>,
}

/// Agreement of a judge with people on grades: the share of equal grades, and a quadratically weighted kappa.
///
/// ```text
/// κ_w = 1 - Σ (i - j)² p_ij / Σ (i - j)² p_i. p_.j
/// ```
///
/// where `p_ij` is the share of pairs that people gave grade i and the judge grade j. 1 is agreement in every pair, and 0 what chance gives. Far
/// misses count most.
///
/// The intervals are Student's t with the cluster-robust standard error CR2 over questions, of the linearised statistic. Pairs of a
/// question are judged against the same need, so intervals that take them for independent are too narrow. There is no interval for a
/// single question, and where all pairs agree.
///
/// # Errors
///
/// There are no pairs.
///
/// Sources: Cohen, "Weighted Kappa: Nominal Scale Agreement with Provision for Scaled Disagreement or Partial Credit", Psychological
/// Bulletin 70 (1968); for the linearisation, Fleiss, Cohen and Everitt, "Large Sample Standard Errors of Kappa and Weighted Kappa",
/// Psychological Bulletin 72 (1969). The values equal scikit-learn's `cohen_kappa_score`.
///
/// ```
/// use evals_metrics::{GradePair, graded_agreement};
///
/// let grades = [(0, 0), (0, 1), (1, 1), (2, 3), (3, 3), (0, 0), (1, 2), (3, 1)];
/// let pairs = grades.iter().zip([0, 0, 1, 1, 2, 2, 3, 3]);
/// let pairs: Vec<GradePair> = pairs
///     .map(|(&(people, judge), question)| GradePair { question, people, judge })
///     .collect();
/// let found = graded_agreement(&pairs, 0.95)?;
/// assert_eq!(found.equal.value, 0.5);
/// assert_eq!(found.kappa.map(|kappa| format!("{:.3}", kappa.value)).as_deref(), Some("0.674"));
/// # Ok::<(), evals_metrics::NoAgreement>(())
/// ```
pub fn graded_agreement(pairs: &[GradePair], level: f64) -> Result<GradedAgreement, NoAgreement> {
    if pairs.is_empty() {
        return Err(NoAgreement::NoAnswers);
    }
    let n = as_f64(pairs.len());
    let mean = |value: &dyn Fn(&GradePair) -> f64| pairs.iter().map(value).sum::<f64>() / n;
    let people = |pair: &GradePair| f64::from(pair.people);
    let judge = |pair: &GradePair| f64::from(pair.judge);
    let is_equal = |pair: &GradePair| f64::from(u8::from(pair.people == pair.judge));
    let equal = mean(&is_equal);

    let apart = |pair: &GradePair| (people(pair) - judge(pair)).powi(2);
    let observed = mean(&apart);
    // The mean square of the distance from a grade to those of one side, by the two moments of that side.
    let by_chance = |grade: f64, side: [f64; 2]| grade * grade - 2.0 * grade * side[0] + side[1];
    let of_people = [mean(&people), mean(&|pair| people(pair).powi(2))];
    let of_judge = [mean(&judge), mean(&|pair| judge(pair).powi(2))];
    let expected = mean(&|pair| by_chance(people(pair), of_judge));
    let value = 1.0 - observed / expected;
    // The derivative of the quotient by the share of the pair's cell.
    let influence = |pair: &GradePair| {
        let chance = by_chance(people(pair), of_judge) + by_chance(judge(pair), of_people);
        ((1.0 - value) * (chance - 2.0 * expected) - (apart(pair) - observed)) / expected
    };
    Ok(GradedAgreement {
        equal: estimate(pairs, equal, (0.0, level), |pair| is_equal(pair) - equal),
        kappa: (expected > ROUNDING).then(|| estimate(pairs, value, (-1.0, level), influence)),
    })
}

/// A statistic with its interval, from the influence that each pair has on it.
fn estimate(
    pairs: &[GradePair],
    value: f64,
    (least, level): (f64, f64),
    influence: impl Fn(&GradePair) -> f64,
) -> Estimate {
    let parts = pairs
        .iter()
        .map(|pair| (pair.question, value + influence(pair)));
    let interval = Clusters::new(parts).interval(ClusterCorrection::Cr2, level);
    Estimate {
        value,
        n: pairs.len(),
        interval: interval.ok().map(|interval| interval.within(least, 1.0)),
    }
}
