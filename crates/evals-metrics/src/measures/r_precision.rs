//! R-precision.

use super::MinimumGrade;
use crate::Undefined;
use crate::arithmetic::share;
use crate::graded_ranking::GradedRanking;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RPrecision {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
}

impl RPrecision {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let relevant = ranking.relevant(self.rel)?;
        let found = ranking.relevant_retrieved(self.rel, Some(relevant));
        Ok(share(found, relevant.get()))
    }
}
