//! Binary preference.

use super::MinimumGrade;
use crate::Undefined;
use crate::arithmetic::{as_f64, share};
use crate::graded_ranking::GradedRanking;

/// `Bpref`: how often judged relevant documents come before judged documents that are not relevant. Unjudged documents do not
/// count.
///
/// ```text
/// Bpref = 1/R · Σ over retrieved relevant documents of 1 - min(N above it, R) / min(N, R)
/// R = relevant documents, N = documents judged as not relevant; "above it": retrieved at a better rank
/// ```
///
/// Equals `bpref` of `trec_eval`, which takes negative grades for documents that were pooled and not judged. Undefined
/// without relevant documents; 0 for an empty ranking.
///
/// Source: Buckley and Voorhees, "Retrieval Evaluation with Incomplete Information", SIGIR (2004).
pub(crate) fn bpref(ranking: &GradedRanking, rel: MinimumGrade) -> Result<f64, Undefined> {
    let relevant = ranking.relevant(rel)?.get();
    let worst = ranking.not_relevant(rel).min(relevant);
    let (mut above, mut sum) = (0, 0.0);
    for &grade in ranking.top(None) {
        if rel.admits(grade) {
            sum += match above {
                0 => 1.0,
                _ => 1.0 - share(relevant.min(above), worst),
            };
        } else if grade.is_some_and(|grade| grade >= 0) {
            above += 1;
        }
    }
    Ok(sum / as_f64(relevant))
}
