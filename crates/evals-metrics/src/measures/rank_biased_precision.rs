//! Rank-biased precision.

use std::num::NonZeroUsize;

use super::{Gains, MinimumGrade};
use crate::graded_ranking::GradedRanking;
use crate::{Decimal, Undefined};

/// `RBP(p=…)`: the gain of a reader who goes on to the next document with probability p.
///
/// ```text
/// RBP = (1 - p) · Σ over ranks i of gain(i) · p^(i-1)
/// ```
///
/// With `rel`, the gain is 1 for relevant documents and 0 for others, as in ir-measures (`RBP(rel=1)`, p = 0.8). Without, it is
/// the grade as a share of the highest grade of the query's judgements, as in `rbp` of `trec_eval` 10 (p = 0.9). Undefined
/// without relevant documents; 0 for an empty ranking.
///
/// Source: Moffat and Zobel, "Rank-Biased Precision for Measurement of Retrieval Effectiveness", ACM TOIS 27 (2008).
pub(crate) fn rank_biased_precision(
    ranking: &GradedRanking,
    persistence: Decimal,
    rel: Option<MinimumGrade>,
    gains: &Gains,
    cutoff: Option<NonZeroUsize>,
) -> Result<f64, Undefined> {
    let greatest = match rel {
        Some(rel) => ranking.relevant(rel).map(|_| 1.0),
        None => ranking.ideal_gains(gains).map(|ideal| ideal[0].max(1.0)),
    }?;
    let gain = |grade: Option<i32>| match rel {
        Some(rel) => f64::from(u8::from(rel.admits(grade))),
        None => grade.map_or(0.0, |grade| gains.of(grade) / greatest),
    };
    let persistence = persistence.get();
    let (mut weight, mut sum) = (1.0, 0.0);
    for &grade in ranking.top(cutoff) {
        sum += gain(grade) * weight;
        weight *= persistence;
    }
    Ok((1.0 - persistence) * sum)
}
