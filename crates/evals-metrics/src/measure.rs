//! One type for all measures: scores, names, cutoffs.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::graded_ranking::GradedRanking;
use crate::measures::{self, Continues, Gain, Gains, MinimumGrade, RecallLevels};
use crate::{Decimal, Judgements, ParseMeasureError, Ranking, Undefined};

/// A rank measure with its parameters; written as in [ir-measures](https://ir-measur.es), such as
/// `nDCG@10` or `RR(rel=2)@10`.
///
/// Parsing ignores case and also takes the names of `trec_eval` (`ndcg_cut_10`, `map`,
/// `recip_rank`, `P_5`) and the aliases of ir-measures (`MRR`, `MAP`, `Recall` …). Displaying gives
/// the one canonical spelling, which is also what serialises.
///
/// ```
/// use evals_metrics::Measure;
///
/// assert_eq!("ndcg_cut_10".parse::<Measure>()?.to_string(), "nDCG@10");
/// assert_eq!("MRR(rel=1)@5".parse::<Measure>()?.to_string(), "RR@5");
/// # Ok::<(), evals_metrics::ParseMeasureError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Measure {
    pub(crate) formula: Formula,
    /// The lowest relevant grade; `None` for measures that do not distinguish relevant from other documents.
    pub(crate) rel: Option<MinimumGrade>,
    /// How many documents the measure looks at; `None` if it looks at all.
    pub(crate) cutoff: Option<NonZeroUsize>,
}

/// What a measure computes, with the parameters that few measures have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Formula {
    AveragePrecision,
    BinaryGain,
    Bpref,
    /// `max_rel` is the highest grade that judgements can have.
    ExpectedReciprocalRank {
        max_rel: u16,
    },
    InferredAp,
    InterpolatedAverage(RecallLevels),
    InterpolatedPrecision {
        recall: Decimal,
    },
    Judged,
    Ndcg(Gain),
    NdcgAtLevels(Gains),
    NdcgAtRelevant(Gains),
    NearlyErr {
        continues: Continues,
        max_rel: u16,
    },
    NormalizedGain(Gains),
    Precision,
    RPrecision,
    RPrecisionMultiple {
        multiple: Decimal,
    },
    RankBiasedPrecision {
        persistence: Decimal,
        gains: Gains,
    },
    Recall,
    ReciprocalRank,
    RelativePrecision,
    SetAp,
    SetF {
        beta: Decimal,
    },
    SetPrecision,
    SetRecall,
    SetRelativePrecision,
    Success,
    Unjudged,
}

impl Measure {
    /// `AP` of all documents.
    pub const AVERAGE_PRECISION: Self = Self {
        formula: Formula::AveragePrecision,
        rel: Some(MinimumGrade::ONE),
        cutoff: None,
    };

    /// Scores one query's ranking against its judgements. The result is finite, and between 0 and 1 unless
    /// [`Gains`](crate::measures::Gains) are negative.
    pub fn score(&self, judgements: &Judgements, ranking: &Ranking) -> Result<f64, Undefined> {
        self.score_graded(&GradedRanking::new(judgements, ranking))
    }

    pub(crate) fn score_graded(&self, it: &GradedRanking) -> Result<f64, Undefined> {
        let Self { rel, cutoff, .. } = *self;
        let graded = rel;
        let rel = rel.unwrap_or_default();
        // The measures that need a cutoff cannot be written without one.
        let k = cutoff.unwrap_or(NonZeroUsize::MAX);
        match &self.formula {
            Formula::AveragePrecision => measures::average_precision(it, rel, cutoff),
            Formula::BinaryGain => measures::binary_gain(it, rel),
            Formula::Bpref => measures::bpref(it, rel),
            Formula::ExpectedReciprocalRank { max_rel } => {
                measures::expected_reciprocal_rank(it, *max_rel, cutoff)
            }
            Formula::InferredAp => measures::inferred_ap(it, rel),
            Formula::InterpolatedAverage(levels) => measures::interpolated_average(it, rel, levels),
            Formula::InterpolatedPrecision { recall } => {
                measures::interpolated_precision_at(it, rel, *recall)
            }
            Formula::Judged => measures::judged(it, cutoff),
            Formula::Ndcg(gain) => measures::ndcg(it, *gain, cutoff),
            Formula::NdcgAtLevels(gains) => measures::ndcg_at_levels(it, rel, gains),
            Formula::NdcgAtRelevant(gains) => measures::ndcg_at_relevant(it, gains),
            Formula::NearlyErr { continues, max_rel } => {
                measures::nearly_err(it, *continues, *max_rel, cutoff)
            }
            Formula::NormalizedGain(gains) => measures::normalized_gain(it, gains),
            Formula::Precision => Ok(measures::precision(it, rel, k)),
            Formula::RPrecision => measures::r_precision(it, rel),
            Formula::RPrecisionMultiple { multiple } => {
                measures::r_precision_multiple(it, rel, *multiple)
            }
            Formula::RankBiasedPrecision { persistence, gains } => {
                measures::rank_biased_precision(it, *persistence, graded, gains, cutoff)
            }
            Formula::Recall => measures::recall(it, rel, k),
            Formula::ReciprocalRank => measures::reciprocal_rank(it, rel, cutoff),
            Formula::RelativePrecision => measures::relative_precision(it, rel, k),
            Formula::SetAp => measures::set_ap(it, rel),
            Formula::SetF { beta } => measures::set_f(it, rel, *beta),
            Formula::SetPrecision => measures::set_precision(it, rel),
            Formula::SetRecall => measures::set_recall(it, rel),
            Formula::SetRelativePrecision => measures::set_relative_precision(it, rel),
            Formula::Success => measures::success(it, rel, k),
            Formula::Unjudged => Ok(measures::unjudged(it, k)),
        }
    }

    /// The usual name of the mean over queries: `MRR@10` for `RR@10`, `MAP` for `AP`, otherwise the
    /// measure's own notation. Both names parse.
    pub fn mean_title(&self) -> String {
        match self.formula {
            Formula::AveragePrecision | Formula::ReciprocalRank => format!("M{self}"),
            _ => self.to_string(),
        }
    }

    /// Whether a lower value is better, as for the share of unjudged documents.
    pub fn is_lower_better(&self) -> bool {
        self.formula == Formula::Unjudged
    }

    /// The number of documents that the measure looks at; `None` if it looks at all. A shorter
    /// ranking lowers the score because of the search depth, not because of the system.
    pub fn cutoff(&self) -> Option<NonZeroUsize> {
        self.cutoff
    }

    /// The same measure with a cutoff of at most `depth`: `nDCG@10` becomes `nDCG@5` at depth 5. A
    /// measure without a cutoff does not change, because its name promises no depth.
    #[must_use]
    pub fn cut_at_most(self, depth: NonZeroUsize) -> Self {
        Self {
            cutoff: self.cutoff.map(|cutoff| cutoff.min(depth)),
            ..self
        }
    }

    /// The same measure with this lowest relevant grade, unless the measure has another one than the default, which is 1.
    /// The `-l` of `trec_eval`.
    #[must_use]
    pub fn relevant_from(self, lowest: MinimumGrade) -> Self {
        Self {
            rel: self.rel.map(|rel| rel.or(lowest)),
            ..self
        }
    }
}

/// Scores one query's ranking by many measures, in their order: the same as [`Measure::score`] for
/// each, but the documents' grades are looked up once for all.
///
/// ```
/// use evals_metrics::{Judgements, Measure, Ranking, ScoredDocument, Undefined, score_all};
///
/// let measures: [Measure; 2] = ["RR".parse()?, "Judged".parse()?];
/// let judgements = Judgements::from_iter([("a".to_owned(), 0)]);
/// let ranking = Ranking::new([ScoredDocument { id: "a".to_owned(), score: 1.0 }])?;
/// let scores = score_all(&measures, &judgements, &ranking);
/// assert_eq!(scores, [Err(Undefined::NoRelevantDocuments), Ok(1.0)]);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn score_all(
    measures: &[Measure],
    judgements: &Judgements,
    ranking: &Ranking,
) -> Vec<Result<f64, Undefined>> {
    let graded = GradedRanking::new(judgements, ranking);
    measures
        .iter()
        .map(|measure| measure.score_graded(&graded))
        .collect()
}

impl TryFrom<String> for Measure {
    type Error = ParseMeasureError;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<Measure> for String {
    fn from(measure: Measure) -> Self {
        measure.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_title_of_a_mean_parses_as_the_measure() {
        let spellings = [
            ("RR@5", "MRR@5"),
            ("recip_rank", "MRR"),
            ("map_cut_10", "MAP@10"),
            ("mAP", "MAP"),
            ("RR(rel=2)@10", "MRR(rel=2)@10"),
            ("ndcg_cut_10", "nDCG@10"),
            ("Rprec", "Rprec"),
        ];
        for (spelling, title) in spellings {
            let measure: Measure = spelling.parse().unwrap();
            assert_eq!(measure.mean_title(), title);
            assert_eq!(title.parse(), Ok(measure));
        }
    }

    #[test]
    fn a_cutoff_is_lowered_but_never_raised() {
        let cut = |name: &str| {
            let measure: Measure = name.parse().unwrap();
            measure
                .cut_at_most(NonZeroUsize::new(5).unwrap())
                .to_string()
        };
        let pairs = [
            ("nDCG@10", "nDCG@5"),
            ("RR(rel=2)@10", "RR(rel=2)@5"),
            ("R@100", "R@5"),
            ("P@3", "P@3"),
            ("AP", "AP"),
            ("Rprec", "Rprec"),
        ];
        for (before, after) in pairs {
            assert_eq!(cut(before), after);
        }
    }
}
