//! nDCG averaged over several depths.

use super::{Gains, MinimumGrade};
use crate::Undefined;
use crate::arithmetic::as_f64;
use crate::graded_ranking::GradedRanking;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NdcgAtRelevant {
    /// Gains of grades.
    pub gains: Gains,
}

impl NdcgAtRelevant {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        let ideal = ranking.ideal_gains(&self.gains)?;
        let mut sums = Cumulated::new(&ideal);
        let (mut sum, mut found) = (0.0, 0);
        for gain in gains(ranking, &self.gains) {
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
}

/// `Rndcg`: nDCG averaged over the depths at which the gain of the ideal ranking changes, and the end of the ranking if that
/// is deeper.
///
/// With 5 documents of gain 3, 3 of gain 2 and 10 of gain 1, these are the depths 5, 8 and 18. Equals `Rndcg` of `trec_eval`,
/// which calls it experimental. Undefined without relevant documents or without a positive gain; 0 for an empty ranking.
///
/// Source: `trec_eval`, `m_Rndcg.c`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NdcgAtLevels {
    /// The lowest relevant grade. It decides only for which queries the measure is defined.
    pub rel: MinimumGrade,
    /// Gains of grades.
    pub gains: Gains,
}

impl NdcgAtLevels {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        ranking.relevant(self.rel)?;
        let ideal = ranking.ideal_gains(&self.gains)?;
        let retrieved = ranking.top(None).len();
        let mut sums = Cumulated::new(&ideal);
        let (mut sum, mut depths) = (0.0, 0);
        let mut gains = gains(ranking, &self.gains);
        for depth in 1..=ideal.len() {
            sums.add(gains.next().unwrap_or(0.0));
            if ideal.get(depth) != ideal.get(depth - 1) {
                sum += sums.ndcg();
                depths += 1;
            }
        }
        // trec_eval does not count the rank right below the last change as a further depth.
        if retrieved > ideal.len() + 1 {
            gains.for_each(|gain| sums.add(gain));
            sum += sums.ndcg();
            depths += 1;
        }
        Ok(sum / as_f64(depths))
    }
}

fn gains(ranking: &GradedRanking, gains: &Gains) -> impl Iterator<Item = f64> {
    let grades = ranking.top(None).iter();
    grades.map(|grade| grade.map_or(0.0, |grade| gains.of(grade)))
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
