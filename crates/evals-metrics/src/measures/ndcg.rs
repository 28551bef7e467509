//! Normalised discounted cumulative gain.

use std::num::NonZeroUsize;

use super::Gains;
use crate::Undefined;
use crate::arithmetic::as_f64;
use crate::graded_ranking::GradedRanking;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ndcg {
    /// The gain function.
    pub gain: Gain,
    /// Looks at the best k documents only, in the ideal ranking too.
    pub cutoff: Option<NonZeroUsize>,
}

/// The gain of a grade in [`Ndcg`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Gain {
    /// The grade itself: `dcg='log2'`, the default of `trec_eval` and ir-measures.
    #[default]
    Linear,
    /// `2^grade - 1`: `dcg='exp-log2'`, which rewards high grades more.
    Exponential,
    /// Gains that the caller chooses: `gains={0:0,1:3}` of ir-measures, `ndcg.1=3` of `trec_eval`.
    Chosen(Gains),
}

impl Ndcg {
    pub(crate) fn score(self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        if let Gain::Chosen(gains) = self.gain {
            return self.score_chosen(ranking, &gains);
        }
        let ideal = ranking.ideal(self.cutoff);
        let &best = ideal.first().ok_or(Undefined::NoRelevantDocuments)?;
        let collected = ranking.top(self.cutoff).iter();
        let collected = collected.map(|grade| self.gain.of(grade.unwrap_or(0), best));
        let possible = ideal.iter().map(|&grade| self.gain.of(grade, best));
        Ok(discounted(collected) / discounted(possible))
    }

    fn score_chosen(self, ranking: &GradedRanking, gains: &Gains) -> Result<f64, Undefined> {
        let mut ideal = ranking.ideal_gains(gains)?;
        ideal.truncate(self.cutoff.map_or(usize::MAX, NonZeroUsize::get));
        let collected = ranking.top(self.cutoff).iter();
        let collected = collected.map(|grade| grade.map_or(0.0, |grade| gains.of(grade)));
        Ok(discounted(collected) / discounted(ideal.into_iter()))
    }
}

impl Gain {
    /// The gain of a grade. The exponential one is scaled by `2^-best`, which cancels out in the
    /// quotient and keeps grades above 1023 from overflowing to infinity.
    fn of(self, grade: i32, best: i32) -> f64 {
        match self {
            _ if grade <= 0 => 0.0,
            Self::Linear => f64::from(grade),
            // `score` handles chosen gains before it asks for the gain of a grade.
            Self::Chosen(gains) => gains.of(grade),
            Self::Exponential => f64::from(grade - best).exp2() - f64::from(-best).exp2(),
        }
    }
}

fn discounted(gains: impl Iterator<Item = f64>) -> f64 {
    gains
        .enumerate()
        .filter(|&(_, gain)| gain != 0.0)
        .map(|(index, gain)| gain / as_f64(index + 2).log2())
        // Not `sum`, which is -0 for no values.
        .fold(0.0, |sum, gain| sum + gain)
}
