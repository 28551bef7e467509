//! Average precision.

use std::num::NonZeroUsize;

use super::MinimumGrade;
use crate::Undefined;
use crate::arithmetic::{as_f64, share};
use crate::graded_ranking::GradedRanking;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AveragePrecision {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
    /// Looks at the best k documents only.
    pub cutoff: Option<NonZeroUsize>,
}

impl AveragePrecision {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let relevant = ranking.relevant(self.rel)?;
        let precisions = ranking
            .top(self.cutoff)
            .iter()
            .enumerate()
            .filter(|&(_, &grade)| self.rel.admits(grade))
            .enumerate()
            .map(|(found, (index, _))| share(found + 1, index + 1));
        // Folded from 0, because the sum of no floats is -0.
        let sum = precisions.fold(0.0, |sum, precision| sum + precision);
        Ok(sum / as_f64(relevant.get()))
    }
}
