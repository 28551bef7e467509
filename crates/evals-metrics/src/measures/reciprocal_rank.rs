//! Reciprocal rank.

use std::num::NonZeroUsize;

use super::MinimumGrade;
use crate::Undefined;
use crate::arithmetic::as_f64;
use crate::graded_ranking::GradedRanking;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ReciprocalRank {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
    /// Looks at the best k documents only.
    pub cutoff: Option<NonZeroUsize>,
}

impl ReciprocalRank {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        ranking.relevant(self.rel)?;
        let mut top = ranking.top(self.cutoff).iter();
        let first = top.position(|&grade| self.rel.admits(grade));
        Ok(first.map_or(0.0, |index| 1.0 / as_f64(index + 1)))
    }
}
