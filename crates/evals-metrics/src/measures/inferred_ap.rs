//! Inferred average precision.

use super::MinimumGrade;
use crate::Undefined;
use crate::arithmetic::{as_f64, share};
use crate::graded_ranking::GradedRanking;

/// Keeps the share of relevant documents defined above which nothing is judged. The constant of `trec_eval`.
const EPSILON: f64 = 0.000_01;

/// `infAP`: average precision estimated from a pool of which only a random sample was judged.
///
/// ```text
/// infAP = 1/R · Σ over relevant documents at rank i of
///         1/i + (i-1)/i · (pooled above it / (i-1)) · (relevant above it + ε) / (judged above it + 2ε)
/// ```
///
/// A negative grade marks a document that was pooled and not judged; a document without a grade was not pooled. Equals
/// `infAP` of `trec_eval` (ε = 0.00001), and `AP` if the pool is judged completely. Undefined without relevant documents; 0
/// for an empty ranking.
///
/// Source: Yilmaz and Aslam, "Estimating Average Precision with Incomplete and Imperfect Judgments", CIKM (2006).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct InferredAp {
    /// The lowest relevant grade.
    pub rel: MinimumGrade,
}

impl InferredAp {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let all = ranking.relevant(self.rel)?.get();
        let (mut relevant, mut other, mut unjudged) = (0, 0, 0);
        let mut sum = 0.0;
        for (above, &grade) in ranking.top(None).iter().enumerate() {
            match grade {
                None => {}
                Some(grade) if grade < 0 => unjudged += 1,
                Some(_) if !self.rel.admits(grade) => other += 1,
                Some(_) => {
                    sum += if above == 0 {
                        1.0
                    } else {
                        let before = as_f64(above);
                        let pooled = share(relevant + other + unjudged, above);
                        let precision = (as_f64(relevant) + EPSILON)
                            / (as_f64(relevant + other) + 2.0 * EPSILON);
                        1.0 / (before + 1.0) + (before / (before + 1.0)) * pooled * precision
                    };
                    relevant += 1;
                }
            }
        }
        Ok(sum / as_f64(all))
    }
}
