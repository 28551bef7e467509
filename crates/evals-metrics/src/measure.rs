//! One type for all measures: scores, names, cutoffs.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::graded_ranking::GradedRanking;
use crate::measures::{
    AveragePrecision, Judged, MinimumGrade, Ndcg, Precision, RPrecision, Recall, ReciprocalRank,
    Success,
};
use crate::{Judgements, ParseMeasureError, Ranking, Undefined};

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
#[non_exhaustive]
pub enum Measure {
    /// `AP`, `AP@k`.
    AveragePrecision(AveragePrecision),
    /// `Judged`, `Judged@k`.
    Judged(Judged),
    /// `nDCG`, `nDCG@k`.
    Ndcg(Ndcg),
    /// `P@k`.
    Precision(Precision),
    /// `Rprec`.
    RPrecision(RPrecision),
    /// `R@k`.
    Recall(Recall),
    /// `RR`, `RR@k`.
    ReciprocalRank(ReciprocalRank),
    /// `Success@k`.
    Success(Success),
}

impl Measure {
    /// Scores one query's ranking against its judgements; the result is finite and between 0 and 1.
    pub fn score(&self, judgements: &Judgements, ranking: &Ranking) -> Result<f64, Undefined> {
        self.score_graded(&GradedRanking::new(judgements, ranking))
    }

    fn score_graded(&self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        match self {
            Self::AveragePrecision(measure) => measure.score(ranking),
            Self::Judged(measure) => measure.score(ranking),
            Self::Ndcg(measure) => measure.score(ranking),
            Self::Precision(measure) => Ok(measure.score(ranking)),
            Self::RPrecision(measure) => measure.score(ranking),
            Self::Recall(measure) => measure.score(ranking),
            Self::ReciprocalRank(measure) => measure.score(ranking),
            Self::Success(measure) => measure.score(ranking),
        }
    }

    /// The name without parameters and cutoff, such as `nDCG`.
    pub fn name(&self) -> &'static str {
        match self {
            Self::AveragePrecision(_) => "AP",
            Self::Judged(_) => "Judged",
            Self::Ndcg(_) => "nDCG",
            Self::Precision(_) => "P",
            Self::RPrecision(_) => "Rprec",
            Self::Recall(_) => "R",
            Self::ReciprocalRank(_) => "RR",
            Self::Success(_) => "Success",
        }
    }

    /// The usual name of the mean over queries: `MRR@10` for `RR@10`, `MAP` for `AP`, otherwise the
    /// measure's own notation. Both names parse.
    pub fn mean_title(&self) -> String {
        match self {
            Self::AveragePrecision(_) | Self::ReciprocalRank(_) => format!("M{self}"),
            _ => self.to_string(),
        }
    }

    /// The number of documents that the measure looks at; `None` if it looks at all. A shorter
    /// ranking lowers the score because of the search depth, not because of the system.
    pub fn cutoff(&self) -> Option<NonZeroUsize> {
        match self {
            Self::AveragePrecision(measure) => measure.cutoff,
            Self::Judged(measure) => measure.cutoff,
            Self::Ndcg(measure) => measure.cutoff,
            Self::Precision(measure) => Some(measure.cutoff),
            Self::RPrecision(_) => None,
            Self::Recall(measure) => Some(measure.cutoff),
            Self::ReciprocalRank(measure) => measure.cutoff,
            Self::Success(measure) => Some(measure.cutoff),
        }
    }

    /// The same measure with a cutoff of at most `depth`: `nDCG@10` becomes `nDCG@5` at depth 5. A
    /// measure without a cutoff does not change, because its name promises no depth.
    #[must_use]
    pub fn cut_at_most(mut self, depth: NonZeroUsize) -> Self {
        let lower = |cutoff: &mut NonZeroUsize| *cutoff = depth.min(*cutoff);
        match &mut self {
            Self::RPrecision(_) => {}
            Self::AveragePrecision(AveragePrecision { cutoff, .. })
            | Self::Judged(Judged { cutoff })
            | Self::Ndcg(Ndcg { cutoff, .. })
            | Self::ReciprocalRank(ReciprocalRank { cutoff, .. }) => {
                cutoff.iter_mut().for_each(lower);
            }
            Self::Precision(Precision { cutoff, .. })
            | Self::Recall(Recall { cutoff, .. })
            | Self::Success(Success { cutoff, .. }) => lower(cutoff),
        }
        self
    }

    /// The lowest relevant grade; `None` for measures that do not distinguish relevant from other
    /// documents.
    pub fn minimum_grade(&self) -> Option<MinimumGrade> {
        match self {
            Self::Judged(_) | Self::Ndcg(_) => None,
            Self::AveragePrecision(measure) => Some(measure.rel),
            Self::Precision(measure) => Some(measure.rel),
            Self::RPrecision(measure) => Some(measure.rel),
            Self::Recall(measure) => Some(measure.rel),
            Self::ReciprocalRank(measure) => Some(measure.rel),
            Self::Success(measure) => Some(measure.rel),
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
