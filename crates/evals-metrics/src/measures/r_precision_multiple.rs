//! Precision at multiples of R.

use std::num::NonZeroUsize;

use super::MinimumGrade;
use crate::arithmetic::{as_f64, share};
use crate::graded_ranking::GradedRanking;
use crate::{Decimal, Undefined};

/// `Rprec_mult@m`: precision at m times R, where R is the number of the query's relevant documents.
///
/// ```text
/// Rprec_mult@m = (relevant documents down to rank n) / n;  n = floor(m · R + 0.9)
/// ```
///
/// Equals `Rprec_mult_m` of `trec_eval`. Undefined without relevant documents; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_Rprec_mult.c`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RPrecisionMultiple {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
    /// The multiple of R, above 0.
    pub multiple: Decimal,
}

impl RPrecisionMultiple {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a number of documents: small and not negative"
    )]
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let relevant = ranking.relevant(self.rel)?.get();
        let rank = (self.multiple.get() * as_f64(relevant) + 0.9) as usize;
        Ok(match NonZeroUsize::new(rank) {
            // So few documents that trec_eval rounds them to none.
            None => 0.0,
            Some(cutoff) => share(ranking.relevant_retrieved(self.rel, Some(cutoff)), rank),
        })
    }
}
