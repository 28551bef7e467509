//! One type for all measures: scores, names, cutoffs.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::graded_ranking::GradedRanking;
use crate::measures::{
    AveragePrecision, BinaryGain, Bpref, ExpectedReciprocalRank, InferredAp, InterpolatedAverage,
    InterpolatedPrecision, Judged, MinimumGrade, Ndcg, NdcgAtLevels, NdcgAtRelevant, NearlyErr,
    NormalizedGain, Precision, RPrecision, RPrecisionMultiple, RankBiasedPrecision, Recall,
    ReciprocalRank, RelativePrecision, SetAp, SetF, SetPrecision, SetRecall, SetRelativePrecision,
    Success, Unjudged,
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
    /// `binG`.
    BinaryGain(BinaryGain),
    /// `Bpref`.
    Bpref(Bpref),
    /// `ERR`, `ERR@k`.
    ExpectedReciprocalRank(ExpectedReciprocalRank),
    /// `infAP`.
    InferredAp(InferredAp),
    /// `11pt_avg`.
    InterpolatedAverage(InterpolatedAverage),
    /// `IPrec@r`.
    InterpolatedPrecision(InterpolatedPrecision),
    /// `Judged`, `Judged@k`.
    Judged(Judged),
    /// `nDCG`, `nDCG@k`.
    Ndcg(Ndcg),
    /// `Rndcg`.
    NdcgAtLevels(NdcgAtLevels),
    /// `ndcg_rel`.
    NdcgAtRelevant(NdcgAtRelevant),
    /// `NERR8@k`, `NERR9@k`, `NERR10`.
    NearlyErr(NearlyErr),
    /// `G`.
    NormalizedGain(NormalizedGain),
    /// `P@k`.
    Precision(Precision),
    /// `Rprec`.
    RPrecision(RPrecision),
    /// `Rprec_mult@m`.
    RPrecisionMultiple(RPrecisionMultiple),
    /// `RBP`.
    RankBiasedPrecision(RankBiasedPrecision),
    /// `R@k`.
    Recall(Recall),
    /// `RR`, `RR@k`.
    ReciprocalRank(ReciprocalRank),
    /// `relative_P@k`.
    RelativePrecision(RelativePrecision),
    /// `SetAP`.
    SetAp(SetAp),
    /// `SetF`.
    SetF(SetF),
    /// `SetP`.
    SetPrecision(SetPrecision),
    /// `SetR`.
    SetRecall(SetRecall),
    /// `SetRelP`.
    SetRelativePrecision(SetRelativePrecision),
    /// `Success@k`.
    Success(Success),
    /// `unj@k`.
    Unjudged(Unjudged),
}

impl Measure {
    /// Scores one query's ranking against its judgements. The result is finite, and between 0 and 1 unless
    /// [`Gains`](crate::measures::Gains) are negative.
    pub fn score(&self, judgements: &Judgements, ranking: &Ranking) -> Result<f64, Undefined> {
        self.score_graded(&GradedRanking::new(judgements, ranking))
    }

    pub(crate) fn score_graded(&self, ranking: &GradedRanking) -> Result<f64, Undefined> {
        match self {
            Self::AveragePrecision(measure) => measure.score(ranking),
            Self::BinaryGain(measure) => measure.score(ranking),
            Self::Bpref(measure) => measure.score(ranking),
            Self::ExpectedReciprocalRank(measure) => measure.score(ranking),
            Self::InferredAp(measure) => measure.score(ranking),
            Self::InterpolatedAverage(measure) => measure.score(ranking),
            Self::InterpolatedPrecision(measure) => measure.score(ranking),
            Self::Judged(measure) => measure.score(ranking),
            Self::Ndcg(measure) => measure.score(ranking),
            Self::NdcgAtLevels(measure) => measure.score(ranking),
            Self::NdcgAtRelevant(measure) => measure.score(ranking),
            Self::NearlyErr(measure) => measure.score(ranking),
            Self::NormalizedGain(measure) => measure.score(ranking),
            Self::Precision(measure) => Ok(measure.score(ranking)),
            Self::RPrecision(measure) => measure.score(ranking),
            Self::RPrecisionMultiple(measure) => measure.score(ranking),
            Self::RankBiasedPrecision(measure) => measure.score(ranking),
            Self::Recall(measure) => measure.score(ranking),
            Self::ReciprocalRank(measure) => measure.score(ranking),
            Self::RelativePrecision(measure) => measure.score(ranking),
            Self::SetAp(measure) => measure.score(ranking),
            Self::SetF(measure) => measure.score(ranking),
            Self::SetPrecision(measure) => measure.score(ranking),
            Self::SetRecall(measure) => measure.score(ranking),
            Self::SetRelativePrecision(measure) => measure.score(ranking),
            Self::Success(measure) => measure.score(ranking),
            Self::Unjudged(measure) => Ok(measure.score(ranking)),
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
        let mut copy = *self;
        copy.cutoff_mut().copied()
    }

    /// The same measure with a cutoff of at most `depth`: `nDCG@10` becomes `nDCG@5` at depth 5. A
    /// measure without a cutoff does not change, because its name promises no depth.
    #[must_use]
    pub fn cut_at_most(mut self, depth: NonZeroUsize) -> Self {
        if let Some(cutoff) = self.cutoff_mut() {
            *cutoff = depth.min(*cutoff);
        }
        self
    }

    /// The lowest relevant grade; `None` for measures that do not distinguish relevant from other
    /// documents.
    pub fn minimum_grade(&self) -> Option<MinimumGrade> {
        let mut copy = *self;
        copy.minimum_grade_mut().copied()
    }

    /// The same measure with this lowest relevant grade, unless the measure has another one than the default, which is 1.
    /// The `-l` of `trec_eval`.
    #[must_use]
    pub fn relevant_from(mut self, lowest: MinimumGrade) -> Self {
        match self.minimum_grade_mut() {
            Some(grade) if *grade == MinimumGrade::default() => *grade = lowest,
            _ => {}
        }
        self
    }

    fn cutoff_mut(&mut self) -> Option<&mut NonZeroUsize> {
        match self {
            Self::AveragePrecision(AveragePrecision { cutoff, .. })
            | Self::ExpectedReciprocalRank(ExpectedReciprocalRank { cutoff, .. })
            | Self::Judged(Judged { cutoff })
            | Self::Ndcg(Ndcg { cutoff, .. })
            | Self::RankBiasedPrecision(RankBiasedPrecision { cutoff, .. })
            | Self::ReciprocalRank(ReciprocalRank { cutoff, .. }) => cutoff.as_mut(),
            Self::Precision(Precision { cutoff, .. })
            | Self::Recall(Recall { cutoff, .. })
            | Self::RelativePrecision(RelativePrecision { cutoff, .. })
            | Self::Success(Success { cutoff, .. })
            | Self::Unjudged(Unjudged { cutoff }) => Some(cutoff),
            Self::NearlyErr(NearlyErr { continues, .. }) => continues.cutoff_mut(),
            _ => None,
        }
    }

    fn minimum_grade_mut(&mut self) -> Option<&mut MinimumGrade> {
        match self {
            Self::AveragePrecision(AveragePrecision { rel, .. })
            | Self::BinaryGain(BinaryGain { rel })
            | Self::Bpref(Bpref { rel })
            | Self::InferredAp(InferredAp { rel })
            | Self::InterpolatedAverage(InterpolatedAverage { rel, .. })
            | Self::InterpolatedPrecision(InterpolatedPrecision { rel, .. })
            | Self::NdcgAtLevels(NdcgAtLevels { rel, .. })
            | Self::Precision(Precision { rel, .. })
            | Self::RPrecision(RPrecision { rel })
            | Self::RPrecisionMultiple(RPrecisionMultiple { rel, .. })
            | Self::Recall(Recall { rel, .. })
            | Self::ReciprocalRank(ReciprocalRank { rel, .. })
            | Self::RelativePrecision(RelativePrecision { rel, .. })
            | Self::SetAp(SetAp { rel })
            | Self::SetF(SetF { rel, .. })
            | Self::SetPrecision(SetPrecision { rel })
            | Self::SetRecall(SetRecall { rel })
            | Self::SetRelativePrecision(SetRelativePrecision { rel })
            | Self::Success(Success { rel, .. }) => Some(rel),
            Self::RankBiasedPrecision(RankBiasedPrecision { rel, .. }) => rel.as_mut(),
            _ => None,
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
