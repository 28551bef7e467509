//! Normalised discounted cumulative gain, at one depth and averaged over several.

use std::num::NonZeroUsize;

use super::{Gains, MinimumGrade};
use crate::Undefined;
use crate::arithmetic::as_f64;
use crate::graded_ranking::GradedRanking;

/// The gain of a grade in nDCG.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Gain {
    /// The grade itself: `dcg='log2'`, the default of `trec_eval` and ir-measures.
    #[default]
    Linear,
    /// `2^grade - 1`: `dcg='exp-log2'`, which rewards high grades more.
    Exponential,
    /// Gains that the caller chooses: `gains={0:0,1:3}` of ir-measures, `ndcg.1=3` of `trec_eval`.
    Chosen(Gains),
}

impl Gain {
    /// The gain of a grade. The exponential one is scaled by `2^-best`, which cancels out in the
    /// quotient and keeps grades above 1023 from overflowing to infinity.
    fn of(self, grade: i32, best: i32) -> f64 {
        match self {
            _ if grade <= 0 => 0.0,
            Self::Linear => f64::from(grade),
            Self::Chosen(gains) => gains.of(grade),
            Self::Exponential => f64::from(grade - best).exp2() - f64::from(-best).exp2(),
        }
    }
}

/// `nDCG` and `nDCG@k`: the gain of the retrieved documents, discounted by rank, as a share of the
/// ideal ranking's.
///
/// ```text
/// DCG@k  = Σ over ranks i = 1..k of gain(i) / log2(i + 1)
/// nDCG@k = DCG@k / DCG@k of all the query's positive grades in descending order
/// ```
///
/// The gain is the grade, or `2^grade - 1` with [`Gain::Exponential`]; that of unjudged documents
/// and negative grades is 0. Equals `ndcg` and `ndcg_cut_k` of `trec_eval`, and
/// `nDCG(dcg='exp-log2')@k` of ir-measures. Undefined without a positive grade; 0 for an empty
/// ranking.
///
/// Sources: Järvelin and Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM TOIS
/// 20 (2002), with the discount `log2(i + 1)` at every rank as in `trec_eval`; for the exponential
/// gain Burges et al., "Learning to rank using gradient descent", ICML (2005).
pub(crate) fn ndcg(
    ranking: &GradedRanking,
    gain: Gain,
    cutoff: Option<NonZeroUsize>,
) -> Result<f64, Undefined> {
    if let Gain::Chosen(gains) = gain {
        let mut ideal = ranking.ideal_gains(&gains)?;
        ideal.truncate(cutoff.map_or(usize::MAX, NonZeroUsize::get));
        return Ok(dcg(ranking.gains(&gains, cutoff)) / dcg(ideal.into_iter()));
    }
    let ideal = ranking.ideal(cutoff);
    let &best = ideal.first().ok_or(Undefined::NoRelevantDocuments)?;
    let collected = ranking.top(cutoff).iter();
    let collected = collected.map(|grade| gain.of(grade.unwrap_or(0), best));
    let possible = ideal.iter().map(|&grade| gain.of(grade, best));
    Ok(dcg(collected) / dcg(possible))
}

/// The sum of gains, discounted by rank.
pub(crate) fn dcg(gains: impl Iterator<Item = f64>) -> f64 {
    gains
        .enumerate()
        .filter(|&(_, gain)| gain != 0.0)
        .map(|(index, gain)| gain / as_f64(index + 2).log2())
        // Not `sum`, which is -0 for no values.
        .fold(0.0, |sum, gain| sum + gain)
}

/// `ndcg_rel`: nDCG averaged over the ranks of the relevant documents.
///
/// ```text
/// ndcg_rel = 1/R · (Σ over retrieved documents with a positive gain at rank i of nDCG at i  +  missing · nDCG at the end)
/// R = documents with a positive gain, missing = those not retrieved
/// ```
///
/// Equals `ndcg_rel` of `trec_eval`, which calls it experimental. Undefined without a positive gain; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_ndcg_rel.c`.
pub(crate) fn ndcg_at_relevant(ranking: &GradedRanking, gains: &Gains) -> Result<f64, Undefined> {
    let ideal = ranking.ideal_gains(gains)?;
    let mut sums = Cumulated::new(&ideal);
    let (mut sum, mut found) = (0.0, 0);
    for gain in ranking.gains(gains, None) {
        sums.add(gain);
        if gain > 0.0 {
            sum += sums.ndcg();
            found += 1;
        }
    }
    sums.finish();
    sum += (as_f64(ideal.len()) - as_f64(found)) * sums.collected / sums.possible;
    Ok(if sum > 0.0 {
        sum / as_f64(ideal.len())
    } else {
        0.0
    })
}

/// `Rndcg`: nDCG averaged over the depths at which the gain of the ideal ranking changes, and the end of the ranking if that
/// is deeper.
///
/// With 5 documents of gain 3, 3 of gain 2 and 10 of gain 1, these are the depths 5, 8 and 18. Equals `Rndcg` of `trec_eval`,
/// which calls it experimental. Undefined without relevant documents or without a positive gain; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_Rndcg.c`.
///
/// `rel` decides only for which queries the measure is defined.
pub(crate) fn ndcg_at_levels(
    ranking: &GradedRanking,
    rel: MinimumGrade,
    gains: &Gains,
) -> Result<f64, Undefined> {
    ranking.relevant(rel)?;
    let ideal = ranking.ideal_gains(gains)?;
    let mut sums = Cumulated::new(&ideal);
    let (mut sum, mut depths) = (0.0, 0);
    let mut gains = ranking.gains(gains, None);
    for depth in 1..=ideal.len() {
        sums.add(gains.next().unwrap_or(0.0));
        if ideal.get(depth) != ideal.get(depth - 1) {
            sum += sums.ndcg();
            depths += 1;
        }
    }
    // trec_eval does not count the rank right below the last change as a further depth.
    if ranking.grades.len() > ideal.len() + 1 {
        gains.for_each(|gain| sums.add(gain));
        sum += sums.ndcg();
        depths += 1;
    }
    Ok(sum / as_f64(depths))
}

/// The discounted gains down to a rank, of the ranking and of the ideal one.
struct Cumulated<'i> {
    ideal: std::slice::Iter<'i, f64>,
    rank: usize,
    collected: f64,
    possible: f64,
}

impl<'i> Cumulated<'i> {
    fn new(ideal: &'i [f64]) -> Self {
        Self {
            ideal: ideal.iter(),
            rank: 0,
            collected: 0.0,
            possible: 0.0,
        }
    }

    /// Goes one rank deeper.
    fn add(&mut self, gain: f64) {
        self.rank += 1;
        let discount = as_f64(self.rank + 1).log2();
        if gain != 0.0 {
            self.collected += gain / discount;
        }
        if let Some(ideal) = self.ideal.next() {
            self.possible += ideal / discount;
        }
    }

    /// Adds the rest of the ideal ranking.
    fn finish(&mut self) {
        while !self.ideal.as_slice().is_empty() {
            self.add(0.0);
        }
    }

    fn ndcg(&self) -> f64 {
        self.collected / self.possible
    }
}
