//! Recall at k.

use std::num::NonZeroUsize;

use super::MinimumGrade;
use crate::Undefined;
use crate::arithmetic::share;
use crate::graded_ranking::GradedRanking;

/// `R@k`: the share of the query's relevant documents that is among the best k.
///
/// ```text
/// R@k = (relevant documents down to rank k) / (all relevant documents of the query)
/// ```
///
/// Equals `recall_k` of `trec_eval`. Some papers call [`Success`](super::Success) by this name; the
/// two agree where a query has one relevant document. Undefined without relevant documents; 0 for
/// an empty ranking.
///
/// Source: van Rijsbergen, *Information Retrieval* (1979), chapter 7.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Recall {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
    /// The number of documents looked at.
    pub cutoff: NonZeroUsize,
}

impl Recall {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let relevant = ranking.relevant(self.rel)?;
        let found = ranking.relevant_retrieved(self.rel, Some(self.cutoff));
        Ok(share(found, relevant.get()))
    }
}
