//! Average precision, and its estimate from incomplete judgements.

use std::num::NonZeroUsize;

use super::MinimumGrade;
use crate::Undefined;
use crate::arithmetic::{as_f64, share};
use crate::graded_ranking::GradedRanking;

/// Keeps the share of relevant documents defined above which nothing is judged. The constant of `trec_eval`.
const EPSILON: f64 = 0.000_01;

/// `AP` and `AP@k`: the mean of the precision at each relevant document. Its mean over queries is
/// known as MAP.
///
/// ```text
/// AP@k = 1/R · Σ over relevant documents at rank i ≤ k of (relevant documents down to i) / i
/// R    = all relevant documents of the query, retrieved or not
/// ```
///
/// Equals `map` and `map_cut_k` of `trec_eval`: the divisor is R even if k is smaller, so `AP@k`
/// stays below 1 for queries with more than k relevant documents. Undefined without relevant
/// documents; 0 for an empty ranking.
///
/// Source: Buckley and Voorhees, "Retrieval System Evaluation", in *TREC: Experiment and Evaluation
/// in Information Retrieval* (2005).
pub(crate) fn average_precision(
    ranking: &GradedRanking,
    rel: MinimumGrade,
    cutoff: Option<NonZeroUsize>,
) -> Result<f64, Undefined> {
    let relevant = ranking.relevant(rel)?;
    let precisions = ranking
        .top(cutoff)
        .iter()
        .enumerate()
        .filter(|&(_, &grade)| rel.admits(grade))
        .enumerate()
        .map(|(found, (index, _))| share(found + 1, index + 1));
    // Folded from 0, because the sum of no floats is -0.
    let sum = precisions.fold(0.0, |sum, precision| sum + precision);
    Ok(sum / as_f64(relevant.get()))
}

/// `infAP`: average precision estimated from a pool of which only a random sample was judged.
///
/// ```text
/// infAP = 1/R · Σ over relevant documents at rank i of
///         1/i + (i-1)/i · (pooled above it / (i-1)) · (relevant above it + ε) / (judged above it + 2ε)
/// ```
///
/// A negative grade marks a document that was pooled and not judged; a document without a grade was not pooled. Equals
/// `infAP` of `trec_eval` (ε = 0.00001), and `AP` if the pool is judged completely. Undefined without relevant documents; 0
/// for an empty ranking.
///
/// Source: Yilmaz and Aslam, "Estimating Average Precision with Incomplete and Imperfect Judgments", CIKM (2006).
pub(crate) fn inferred_ap(ranking: &GradedRanking, rel: MinimumGrade) -> Result<f64, Undefined> {
    let all = ranking.relevant(rel)?.get();
    let (mut relevant, mut other, mut unjudged) = (0, 0, 0);
    let mut sum = 0.0;
    for (above, &grade) in ranking.top(None).iter().enumerate() {
        match grade {
            None => {}
            Some(grade) if grade < 0 => unjudged += 1,
            Some(_) if !rel.admits(grade) => other += 1,
            Some(_) => {
                sum += if above == 0 {
                    1.0
                } else {
                    let before = as_f64(above);
                    let pooled = share(relevant + other + unjudged, above);
                    let precision =
                        (as_f64(relevant) + EPSILON) / (as_f64(relevant + other) + 2.0 * EPSILON);
                    1.0 / (before + 1.0) + (before / (before + 1.0)) * pooled * precision
                };
                relevant += 1;
            }
        }
    }
    Ok(sum / as_f64(all))
}
