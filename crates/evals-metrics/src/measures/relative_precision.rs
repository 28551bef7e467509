//! Relative precision at k.

use std::num::NonZeroUsize;

use super::MinimumGrade;
use crate::Undefined;
use crate::arithmetic::share;
use crate::graded_ranking::GradedRanking;

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
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RelativePrecision {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
    /// The number of documents looked at.
    pub cutoff: NonZeroUsize,
}

impl RelativePrecision {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let possible = ranking.relevant(self.rel)?.min(self.cutoff).get();
        let found = ranking.relevant_retrieved(self.rel, Some(self.cutoff));
        Ok(share(found, possible))
    }
}
