//! The share of unjudged documents at k.

use std::num::NonZeroUsize;

use crate::arithmetic::share;
use crate::graded_ranking::GradedRanking;

/// `unj@k`: the share of the k places that hold an unjudged document.
///
/// Equals `unj_k` of `trec_eval` 10, where a document of a negative grade is unjudged, and a missing document is not.
/// [`Judged`](super::Judged) divides by the documents retrieved instead. Defined for every query.
///
/// Source: `trec_eval`, `m_unjudged.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unjudged {
    /// The number of documents looked at.
    pub cutoff: NonZeroUsize,
}

impl Unjudged {
    pub(crate) fn score(self, ranking: &GradedRanking) -> f64 {
        let top = ranking.top(Some(self.cutoff)).iter();
        let unjudged = top.filter(|grade| grade.is_none_or(|grade| grade < 0));
        share(unjudged.count(), self.cutoff.get())
    }
}
