//! Precision, recall and success: the relevant documents among the best.

use std::num::NonZeroUsize;

use super::MinimumGrade;
use crate::arithmetic::{as_f64, share};
use crate::graded_ranking::GradedRanking;
use crate::{Decimal, Undefined};

/// `P@k`: the share of relevant documents among the best k.
///
/// ```text
/// P@k = (relevant documents down to rank k) / k
/// ```
///
/// Equals `P_k` of `trec_eval`: it divides by k even if fewer documents are retrieved. Defined for
/// every query: 0 without relevant documents and for an empty ranking.
///
/// Source: van Rijsbergen, *Information Retrieval* (1979), chapter 7.
pub(crate) fn precision(ranking: &GradedRanking, rel: MinimumGrade, k: NonZeroUsize) -> f64 {
    share(ranking.relevant_retrieved(rel, Some(k)), k.get())
}

/// `relative_P@k`: precision at k as a share of the highest one possible.
///
/// ```text
/// relative_P@k = (relevant documents down to rank k) / min(k, relevant documents)
/// ```
///
/// Equals `relative_P_k` of `trec_eval`: precision down to R, recall below. Undefined without relevant documents; 0 for an
/// empty ranking.
///
/// Source: `trec_eval`, `m_rel_P.c`.
pub(crate) fn relative_precision(
    ranking: &GradedRanking,
    rel: MinimumGrade,
    k: NonZeroUsize,
) -> Result<f64, Undefined> {
    let possible = ranking.relevant(rel)?.min(k).get();
    Ok(share(ranking.relevant_retrieved(rel, Some(k)), possible))
}

/// `R@k`: the share of the query's relevant documents that is among the best k.
///
/// ```text
/// R@k = (relevant documents down to rank k) / (all relevant documents of the query)
/// ```
///
/// Equals `recall_k` of `trec_eval`. Some papers call `Success` by this name; the
/// two agree where a query has one relevant document. Undefined without relevant documents; 0 for
/// an empty ranking.
///
/// Source: van Rijsbergen, *Information Retrieval* (1979), chapter 7.
pub(crate) fn recall(
    ranking: &GradedRanking,
    rel: MinimumGrade,
    k: NonZeroUsize,
) -> Result<f64, Undefined> {
    let relevant = ranking.relevant(rel)?.get();
    Ok(share(ranking.relevant_retrieved(rel, Some(k)), relevant))
}

/// `Success@k`: whether any relevant document is among the best k. Also known as hit rate.
///
/// ```text
/// Success@k = 1 where a relevant document is at rank k or better, else 0
/// ```
///
/// Equals `success_k` of `trec_eval`. Undefined without relevant documents; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_success.c`.
pub(crate) fn success(
    ranking: &GradedRanking,
    rel: MinimumGrade,
    k: NonZeroUsize,
) -> Result<f64, Undefined> {
    ranking.relevant(rel)?;
    let found = ranking.relevant_retrieved(rel, Some(k));
    Ok(if found > 0 { 1.0 } else { 0.0 })
}

/// `RR` and `RR@k`: how early the first relevant document comes. Its mean over queries is known as
/// MRR.
///
/// ```text
/// RR = 1 / rank of the first relevant document;  0 where none is retrieved (within k)
/// ```
///
/// Equals `recip_rank` of `trec_eval` and, with a cutoff, `RR@k` of ir-measures. Undefined without
/// relevant documents; 0 for an empty ranking.
///
/// Source: Kantor and Voorhees, "The TREC-5 Confusion Track", Information Retrieval 2 (2000).
pub(crate) fn reciprocal_rank(
    ranking: &GradedRanking,
    rel: MinimumGrade,
    cutoff: Option<NonZeroUsize>,
) -> Result<f64, Undefined> {
    ranking.relevant(rel)?;
    let mut top = ranking.top(cutoff).iter();
    let first = top.position(|&grade| rel.admits(grade));
    Ok(first.map_or(0.0, |index| 1.0 / as_f64(index + 1)))
}

/// `Rprec`: precision at R, where R is the number of the query's relevant documents; recall at R is
/// the same number.
///
/// ```text
/// Rprec = (relevant documents down to rank R) / R
/// ```
///
/// Equals `Rprec` of `trec_eval`. Undefined without relevant documents; 0 for an empty ranking.
///
/// Source: Buckley and Voorhees, "Retrieval System Evaluation", in *TREC: Experiment and Evaluation
/// in Information Retrieval* (2005).
pub(crate) fn r_precision(ranking: &GradedRanking, rel: MinimumGrade) -> Result<f64, Undefined> {
    let relevant = ranking.relevant(rel)?;
    Ok(precision(ranking, rel, relevant))
}

/// `Rprec_mult@m`: precision at m times R, where R is the number of the query's relevant documents.
///
/// ```text
/// Rprec_mult@m = (relevant documents down to rank n) / n;  n = floor(m · R + 0.9)
/// ```
///
/// Equals `Rprec_mult_m` of `trec_eval`. Undefined without relevant documents; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_Rprec_mult.c`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a number of documents: small and not negative"
)]
pub(crate) fn r_precision_multiple(
    ranking: &GradedRanking,
    rel: MinimumGrade,
    multiple: Decimal,
) -> Result<f64, Undefined> {
    let relevant = ranking.relevant(rel)?.get();
    let rank = (multiple.get() * as_f64(relevant) + 0.9) as usize;
    // So few documents that trec_eval rounds them to none have precision 0.
    Ok(NonZeroUsize::new(rank).map_or(0.0, |k| precision(ranking, rel, k)))
}
