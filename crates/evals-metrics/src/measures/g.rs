//! G, a measure between average precision and nDCG.

use super::{Gains, MinimumGrade};
use crate::Undefined;
use crate::arithmetic::as_f64;
use crate::graded_ranking::GradedRanking;

/// `G`: the gain of each document, discounted by the gain that better documents would have had in its place.
///
/// ```text
/// G = Σ over ranks i of gain(i) / log2(2 + Σ over j ≤ i of (max(ideal gain(j), 1) - gain(j)))  /  Σ of all positive gains
/// ```
///
/// Equals `G` of `trec_eval`, which calls it experimental. Undefined without a positive gain; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_G.c`.
pub(crate) fn normalized_gain(ranking: &GradedRanking, gains: &Gains) -> Result<f64, Undefined> {
    let ideal = ranking.ideal_gains(gains)?;
    let (mut collected, mut cost, mut sum) = (0.0, 0.0, 0.0);
    for (index, gain) in ranking.gains(gains, None).enumerate() {
        collected += gain;
        cost += ideal.get(index).map_or(1.0, |ideal| ideal.max(1.0));
        if gain != 0.0 {
            sum += gain / (2.0 + cost - collected).log2();
        }
    }
    Ok(sum / ideal.iter().fold(0.0, |sum, gain| sum + gain))
}

/// `binG`: `G` of relevant and other documents.
///
/// ```text
/// binG = 1/R · Σ over retrieved relevant documents of 1 / log2(2 + other documents above it)
/// ```
///
/// Equals `binG` of `trec_eval`. Undefined without relevant documents; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_binG.c`.
pub(crate) fn binary_gain(ranking: &GradedRanking, rel: MinimumGrade) -> Result<f64, Undefined> {
    let relevant = ranking.relevant(rel)?.get();
    let ranks = ranking.relevant_ranks(rel);
    let sum = (0..)
        .zip(ranks)
        .map(|(found, rank)| 1.0 / as_f64(1 + rank - found).log2())
        .fold(0.0, |sum, value| sum + value);
    Ok(sum / as_f64(relevant))
}
