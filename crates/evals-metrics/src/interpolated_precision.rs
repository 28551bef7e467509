//! Interpolated precision at eleven levels of recall.

use std::fmt::Display;

use crate::graded_ranking::GradedRanking;
use crate::measures::MinimumGrade;
use crate::{Bootstrap, Judgements, Mean, Ranking, Scale, TrecEval, Undefined, UndefinedAs};

/// The levels of recall: 0, 0.1 … 1.
pub const RECALL_LEVELS: [f64; 11] = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0];

/// The precision of a ranking at each of the [levels of recall](RECALL_LEVELS), interpolated.
///
/// ```text
/// precision at level r = the highest precision at any rank where recall is at least r
/// ```
///
/// A level that the ranking does not reach has precision 0. Equals `iprec_at_recall` of `trec_eval` 9, which rounds the number
/// of documents that a level asks for: `floor(r * relevant + 0.9)`, at least 0. A document is relevant if its grade is 1 or more.
///
/// Source: Manning, Raghavan and Schütze, *Introduction to Information Retrieval* (2008), section 8.4.
///
/// # Errors
///
/// No document is relevant.
///
/// ```
/// use evals_metrics::{Judgements, Ranking, ScoredDocument, interpolated_precision};
///
/// let judgements = Judgements::from_iter([("a".to_owned(), 1), ("b".to_owned(), 1)]);
/// let scored = |id: &str, score| ScoredDocument { id: id.to_owned(), score };
/// let ranking = Ranking::new([scored("a", 3.0), scored("x", 2.0), scored("b", 1.0)])?;
/// let precision = interpolated_precision(&judgements, &ranking)?;
/// // The first document is relevant; all relevant ones are among three.
/// assert_eq!((precision[0], precision[5], precision[10]), (1.0, 1.0, 2.0 / 3.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn interpolated_precision(
    judgements: &Judgements,
    ranking: &Ranking,
) -> Result<[f64; 11], Undefined> {
    let graded = GradedRanking::new(judgements, ranking);
    let rel = MinimumGrade::default();
    let relevant = graded.relevant(rel)?.get();
    let best_from = graded.interpolated(rel);
    Ok(RECALL_LEVELS.map(|level| {
        let needed = TrecEval::V9.documents_at(level, relevant).max(1);
        best_from.get(needed - 1).copied().unwrap_or(0.0)
    }))
}

/// The mean of [interpolated precision](interpolated_precision) at each level of recall, with its interval. A query without a
/// value has a reason and is excluded, so all means have the same n.
///
/// The band of the intervals is pointwise: each level has its own, and all of them resample the same queries.
pub fn mean_interpolated_precision<Reason: Display>(
    precisions: &[Result<[f64; 11], Reason>],
    bootstrap: &Bootstrap,
) -> [Mean; 11] {
    std::array::from_fn(|level| {
        let values = precisions.iter();
        let values = values.map(|it| it.as_ref().map(|precision| precision[level]));
        Mean::over(values, UndefinedAs::Excluded, Scale::Share, bootstrap)
    })
}
