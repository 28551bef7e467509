//! Expected reciprocal rank.

use std::num::NonZeroUsize;

use crate::Undefined;
use crate::arithmetic::as_f64;
use crate::graded_ranking::GradedRanking;

/// `ERR` and `ERR@k`: the reciprocal rank at which a reader stops who is satisfied by a document with a probability that grows
/// with its grade.
///
/// ```text
/// ERR@k = Σ over ranks i ≤ k of s(i)/i · Π over j < i of (1 - s(j));   s(i) = (2^grade - 1) / 2^max_rel
/// ```
///
/// Equals `err@k` of TREC's `gdeval.pl`, and `ERR@k` of ir-measures, for which `max_rel` is always 4. Undefined without a
/// positive grade, and with a grade above `max_rel`; 0 for an empty ranking.
///
/// Source: Chapelle, Metlzer, Zhang and Grinspan, "Expected Reciprocal Rank for Graded Relevance", CIKM (2009).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ExpectedReciprocalRank {
    /// The highest grade that judgements can have, up to 1000. Default in texts: 4.
    pub max_rel: u16,
    /// Looks at the best k documents only.
    pub cutoff: Option<NonZeroUsize>,
}

impl ExpectedReciprocalRank {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        within(ranking, self.max_rel)?;
        let scale = f64::from(self.max_rel).exp2();
        let (mut unsatisfied, mut sum) = (1.0, 0.0);
        for (index, grade) in ranking.top(self.cutoff).iter().enumerate() {
            let grade = grade.unwrap_or(0).max(0);
            let satisfied = (f64::from(grade).exp2() - 1.0) / scale;
            sum += satisfied * unsatisfied / as_f64(index + 1);
            unsatisfied *= 1.0 - satisfied;
        }
        Ok(sum)
    }
}

/// An error without a positive grade, and with one above the highest possible.
pub(super) fn within(ranking: &GradedRanking, max_rel: u16) -> Result<(), Undefined> {
    match ranking.ideal(None).first() {
        None => Err(Undefined::NoRelevantDocuments),
        Some(&best) if best > i32::from(max_rel) => Err(Undefined::GradeAboveMaximum),
        Some(_) => Ok(()),
    }
}
