//! Precision at k.

use std::num::NonZeroUsize;

use super::MinimumGrade;
use crate::arithmetic::share;
use crate::graded_ranking::GradedRanking;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Precision {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
    /// The number of documents looked at.
    pub cutoff: NonZeroUsize,
}

impl Precision {
    pub(crate) fn score(self, ranking: &GradedRanking) -> f64 {
        let found = ranking.relevant_retrieved(self.rel, Some(self.cutoff));
        share(found, self.cutoff.get())
    }
}
