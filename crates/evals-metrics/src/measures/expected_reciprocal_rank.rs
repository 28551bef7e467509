//! Expected reciprocal rank, and the measures of the C/W/L framework that are close to it.

use std::num::NonZeroUsize;

use crate::arithmetic::as_f64;
use crate::graded_ranking::GradedRanking;
use crate::{Decimal, Undefined};

/// How deep `cwl_eval` looks.
const DEPTH: usize = 1000;

/// `ERR` and `ERR@k`: the reciprocal rank at which a reader stops who is satisfied by a document with a probability that grows
/// with its grade.
///
/// ```text
/// ERR@k = Σ over ranks i ≤ k of s(i)/i · Π over j < i of (1 - s(j));   s(i) = (2^grade - 1) / 2^max_rel
/// ```
///
/// Equals `err@k` of TREC's `gdeval.pl`, and `ERR@k` of ir-measures, for which `max_rel` is always 4. Undefined without a
/// positive grade, and with a grade above `max_rel`; 0 for an empty ranking.
///
/// Source: Chapelle, Metlzer, Zhang and Grinspan, "Expected Reciprocal Rank for Graded Relevance", CIKM (2009).
pub(crate) fn expected_reciprocal_rank(
    ranking: &GradedRanking,
    max_rel: u16,
    cutoff: Option<NonZeroUsize>,
) -> Result<f64, Undefined> {
    within(ranking, max_rel)?;
    let scale = f64::from(max_rel).exp2();
    let (mut unsatisfied, mut sum) = (1.0, 0.0);
    for (index, grade) in ranking.top(cutoff).iter().enumerate() {
        let grade = grade.unwrap_or(0).max(0);
        let satisfied = (f64::from(grade).exp2() - 1.0) / scale;
        sum += satisfied * unsatisfied / as_f64(index + 1);
        unsatisfied *= 1.0 - satisfied;
    }
    Ok(sum)
}

/// The probability C of going on to the next document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Continues {
    /// `NERR8@k`: `1 - g(i)`, down to rank k.
    Gain,
    /// `NERR9@k`: `i / (i + 1) · (1 - g(i))`, down to rank k.
    DiscountedGain,
    /// `NERR10(p=…)`: `p · (1 - g(i))`.
    Persistence(Decimal),
}

/// `NERR8@k`, `NERR9@k` and `NERR10`: measures of the C/W/L framework that are close to
/// `ERR`.
///
/// ```text
/// NERR = Σ W(i) · g(i);   W(i) = Π over j < i of C(j), scaled to a sum of 1;   g(i) = min(grade, max_rel) / max_rel
/// ```
///
/// C(i) is the probability of going on after rank i. Missing documents have the gain 0. Equals `cwl_eval`, which ir-measures
/// calls, and which looks at 1000 documents at most. Undefined without a positive grade, and with a grade above `max_rel`; 0
/// for an empty ranking.
///
/// Source: Azzopardi, Mackenzie and Moffat, "ERR is not C/W/L: Exploring the Relationship Between Expected Reciprocal Rank and
/// Other Metrics", ICTIR (2021).
pub(crate) fn nearly_err(
    ranking: &GradedRanking,
    continues: Continues,
    max_rel: u16,
    cutoff: Option<NonZeroUsize>,
) -> Result<f64, Undefined> {
    within(ranking, max_rel)?;
    let depth = cutoff.map_or(DEPTH, |cutoff| cutoff.get().min(DEPTH));
    let (mut weight, mut weights, mut sum) = (1.0, 0.0, 0.0);
    for rank in 1..=depth {
        let grade = ranking.grades.get(rank - 1).copied().flatten();
        let gain = f64::from(grade.unwrap_or(0).max(0)) / f64::from(max_rel);
        sum += weight * gain;
        weights += weight;
        weight *= (1.0 - gain)
            * match continues {
                Continues::Gain => 1.0,
                Continues::DiscountedGain => as_f64(rank) / as_f64(rank + 1),
                Continues::Persistence(p) => p.get(),
            };
    }
    Ok(sum / weights)
}

/// An error without a positive grade, and with one above the highest possible.
fn within(ranking: &GradedRanking, max_rel: u16) -> Result<(), Undefined> {
    match ranking.ideal(None).first() {
        None => Err(Undefined::NoRelevantDocuments),
        Some(&best) if best > i32::from(max_rel) => Err(Undefined::GradeAboveMaximum),
        Some(_) => Ok(()),
    }
}
