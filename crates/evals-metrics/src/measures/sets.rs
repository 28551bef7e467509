//! Measures of the retrieved documents as a set, whatever their order.

use super::MinimumGrade;
use crate::arithmetic::{as_f64, share};
use crate::graded_ranking::GradedRanking;
use crate::{Decimal, Undefined};

/// `SetP`: the share of relevant documents among the retrieved ones.
///
/// Equals `set_P` of `trec_eval`. Undefined for an empty ranking; 0 without relevant documents.
///
/// Source: van Rijsbergen, *Information Retrieval* (1979), chapter 7.
pub(crate) fn set_precision(ranking: &GradedRanking, rel: MinimumGrade) -> Result<f64, Undefined> {
    let retrieved = ranking.retrieved()?.get();
    Ok(share(ranking.relevant_retrieved(rel, None), retrieved))
}

/// `SetRelP`: `SetP` as a share of the highest one that a set of this size could have.
///
/// ```text
/// SetRelP = relevant retrieved / min(retrieved, relevant)
/// ```
///
/// Equals `set_relative_P` of `trec_eval` and `SetP(relative=True)` of ir-measures. Undefined without relevant documents and
/// for an empty ranking.
///
/// Source: `trec_eval`, `m_set_rel_P.c`.
pub(crate) fn set_relative_precision(
    ranking: &GradedRanking,
    rel: MinimumGrade,
) -> Result<f64, Undefined> {
    let possible = ranking.relevant(rel)?.min(ranking.retrieved()?).get();
    Ok(share(ranking.relevant_retrieved(rel, None), possible))
}

/// `SetR`: the share of the relevant documents that was retrieved.
///
/// Equals `set_recall` of `trec_eval`. Undefined without relevant documents; 0 for an empty ranking.
///
/// Source: van Rijsbergen, *Information Retrieval* (1979), chapter 7.
pub(crate) fn set_recall(ranking: &GradedRanking, rel: MinimumGrade) -> Result<f64, Undefined> {
    let relevant = ranking.relevant(rel)?.get();
    Ok(share(ranking.relevant_retrieved(rel, None), relevant))
}

/// `SetF`: the weighted harmonic mean of `SetP` P and `SetR` R.
///
/// ```text
/// SetF = (β + 1) · P · R / (β · P + R)
/// ```
///
/// `beta` is the weight of R as in `set_F` of `trec_eval` and in ir-measures, not its square root as in the literature's
/// F-β. Undefined without relevant documents; 0 if none was retrieved.
///
/// Source: `trec_eval`, `m_set_F.c`, after van Rijsbergen, *Information Retrieval* (1979), chapter 7.
pub(crate) fn set_f(
    ranking: &GradedRanking,
    rel: MinimumGrade,
    beta: Decimal,
) -> Result<f64, Undefined> {
    let recall = set_recall(ranking, rel)?;
    if ranking.relevant_retrieved(rel, None) == 0 {
        return Ok(0.0);
    }
    let precision = set_precision(ranking, rel)?;
    let beta = beta.get();
    Ok((beta + 1.0) * precision * recall / (beta * precision + recall))
}

/// `SetAP`: `SetP` times `SetR`.
///
/// Equals `set_map` of `trec_eval`. Undefined without relevant documents; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_set_map.c`.
pub(crate) fn set_ap(ranking: &GradedRanking, rel: MinimumGrade) -> Result<f64, Undefined> {
    let relevant = ranking.relevant(rel)?.get();
    let found = as_f64(ranking.relevant_retrieved(rel, None));
    Ok(match ranking.retrieved() {
        Err(_) => 0.0,
        Ok(retrieved) => found * found / (as_f64(retrieved.get()) * as_f64(relevant)),
    })
}
