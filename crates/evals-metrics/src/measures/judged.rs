//! The shares of retrieved documents with and without a judgement.

use std::num::NonZeroUsize;

use crate::Undefined;
use crate::arithmetic::share;
use crate::graded_ranking::GradedRanking;

/// `Judged` and `Judged@k`: the share of retrieved documents that has a judgement, of any grade.
///
/// ```text
/// Judged@k = (judged documents down to rank k) / min(k, documents retrieved)
/// ```
///
/// It shows how far the other measures can be trusted: a system that finds unjudged documents
/// scores low without being bad. Equals `Judged@k` of ir-measures, apart from ties, which
/// ir-measures breaks by ascending id here. Undefined for an empty ranking.
///
/// Source: ir-measures, `providers/judged_provider.py`.
pub(crate) fn judged(
    ranking: &GradedRanking,
    cutoff: Option<NonZeroUsize>,
) -> Result<f64, Undefined> {
    let top = ranking.top(cutoff);
    if top.is_empty() {
        return Err(Undefined::EmptyRanking);
    }
    let judged = top.iter().filter(|grade| grade.is_some()).count();
    Ok(share(judged, top.len()))
}

/// `unj@k`: the share of the k places that hold an unjudged document.
///
/// Equals `unj_k` of `trec_eval` 10, where a document of a negative grade is unjudged, and a missing document is not.
/// `Judged` divides by the documents retrieved instead. Defined for every query.
///
/// Source: `trec_eval`, `m_unjudged.c`.
pub(crate) fn unjudged(ranking: &GradedRanking, k: NonZeroUsize) -> f64 {
    let top = ranking.top(Some(k)).iter();
    let unjudged = top.filter(|grade| grade.is_none_or(|grade| grade < 0));
    share(unjudged.count(), k.get())
}
