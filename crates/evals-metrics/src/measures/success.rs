//! Success at k, also known as hit rate.

use std::num::NonZeroUsize;

use super::MinimumGrade;
use crate::Undefined;
use crate::graded_ranking::GradedRanking;

/// `Success@k`: whether any relevant document is among the best k. Also known as hit rate.
///
/// ```text
/// Success@k = 1 where a relevant document is at rank k or better, else 0
/// ```
///
/// Equals `success_k` of `trec_eval`. Undefined without relevant documents; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_success.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Success {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
    /// The number of documents looked at.
    pub cutoff: NonZeroUsize,
}

impl Success {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        ranking.relevant(self.rel)?;
        let found = ranking.relevant_retrieved(self.rel, Some(self.cutoff));
        Ok(if found > 0 { 1.0 } else { 0.0 })
    }
}
