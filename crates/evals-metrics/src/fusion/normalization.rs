//! Makes scores of different systems comparable.

use crate::arithmetic::{arithmetic_mean, as_f64};

/// The least denominator, as in ranx: equal scores become 0, not NaN.
const LEAST: f64 = 1e-9;

/// How the scores `x` of a query's ranking become comparable with those of other runs. All are those of ranx 0.3.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Normalization {
    /// (x - min) / (max - min): from 0 to 1. Equal scores become 0.
    #[default]
    MinMax,
    /// x / max. The greatest score has to be positive.
    Max,
    /// (x - min) / Σ (x - min).
    Sum,
    /// (x - mean) / standard deviation. ranx calls it `zmuv`.
    ZScore,
    /// 1 - (rank - 1) / documents: scores do not count.
    Rank,
    /// x as it is.
    None,
}

impl Normalization {
    /// The normalized scores, which are given in descending order; `None` if they cannot be divided by the greatest.
    pub(super) fn apply(self, scores: &[f64]) -> Option<Vec<f64>> {
        let (Some(&greatest), Some(&least)) = (scores.first(), scores.last()) else {
            return Some(Vec::new());
        };
        let scaled = |from: f64, by: f64| {
            let by = by.max(LEAST);
            scores.iter().map(|score| (score - from) / by).collect()
        };
        Some(match self {
            Self::MinMax => scaled(least, greatest - least),
            Self::Max if greatest <= 0.0 => return None,
            Self::Max => scaled(0.0, greatest),
            Self::Sum => scaled(least, scores.iter().map(|score| score - least).sum()),
            Self::ZScore => {
                let mean = arithmetic_mean(scores)?;
                let squares = scores.iter().map(|score| (score - mean).powi(2));
                let variance = squares.sum::<f64>() / as_f64(scores.len());
                scaled(mean, variance.sqrt())
            }
            Self::Rank => {
                let documents = as_f64(scores.len());
                let places = 0..scores.len();
                places
                    .map(|place| 1.0 - as_f64(place) / documents)
                    .collect()
            }
            Self::None => scores.to_vec(),
        })
    }
}
