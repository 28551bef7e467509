//! The formulas of fusion.

use crate::arithmetic::as_f64;

/// A formula of fusion. `s` is a normalized score, `r` a rank from 1, `n` the number of runs that rank the document.
///
/// All are those of ranx 0.3.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Method {
    /// Reciprocal rank fusion: Σ 1 / (k + r). Usually with k = 60.
    ///
    /// Source: Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion Outperforms Condorcet and Individual Rank Learning Methods",
    /// SIGIR (2009).
    Rrf {
        /// Softens the difference between the first ranks.
        k: u32,
    },
    /// Σ s.
    ///
    /// Source of all `Comb…` methods: Fox and Shaw, "Combination of Multiple Searches", TREC-2 (1993).
    CombSum,
    /// n · Σ s.
    CombMnz,
    /// Σ s / n.
    CombAnz,
    /// The greatest s.
    CombMax,
    /// The least s.
    CombMin,
    /// The median of s.
    CombMed,
    /// Inverse square rank: n · Σ 1 / r².
    ///
    /// Source: Mourão, Martins and Magalhães, "Multimodal Medical Information Retrieval with Unsupervised Rank Fusion", Computerized
    /// Medical Imaging and Graphics 39 (2015).
    Isr,
    /// ln(n) · Σ 1 / r²: 0 for documents of one run.
    LogIsr,
    /// Points for each document that is ranked below, of all that any run ranks; missing ones share the points that are left.
    ///
    /// Source: Aslam and Montague, "Models for Metasearch", SIGIR (2001).
    BordaFuse,
    /// Rank-biased centroid: Σ (1 - p) · p^(r-1).
    ///
    /// Source: Bailey, Moffat, Scholer and Thomas, "Retrieval Consistency in the Presence of Query Variations", SIGIR (2017).
    Rbc {
        /// The probability of going on to the next document, from 0 to below 1.
        persistence: f64,
    },
}

/// The share of a rank in reciprocal rank fusion: 1 / (k + rank), with ranks from 1.
pub fn reciprocal_rank(k: u32, rank: u32) -> f64 {
    1.0 / (f64::from(k) + f64::from(rank))
}

impl Method {
    /// Whether the scores of the runs matter, and not only their ranks.
    pub fn uses_scores(self) -> bool {
        matches!(
            self,
            Self::CombSum
                | Self::CombMnz
                | Self::CombAnz
                | Self::CombMax
                | Self::CombMin
                | Self::CombMed
        )
    }

    /// What a run gives to a document, before its weight.
    pub(super) fn share(self, rank: u32, score: f64, candidates: usize) -> f64 {
        let place = f64::from(rank);
        match self {
            Self::Rrf { k } => reciprocal_rank(k, rank),
            Self::Isr | Self::LogIsr => 1.0 / (place * place),
            Self::BordaFuse => as_f64(candidates) - place + 1.0,
            Self::Rbc { persistence } => (1.0 - persistence) * persistence.powf(place - 1.0),
            _ => score,
        }
    }

    /// What a run gives to each document that it does not rank.
    pub(super) fn missing_share(self, ranked: usize, candidates: usize) -> Option<f64> {
        matches!(self, Self::BordaFuse)
            .then(|| f64::midpoint(as_f64(candidates) - as_f64(ranked), 1.0))
    }

    /// The fused score. There is at least one share.
    pub(super) fn combine(self, shares: &[f64]) -> f64 {
        let sum = shares.iter().fold(0.0, |sum, share| sum + share);
        let count = as_f64(shares.len());
        match self {
            Self::Rrf { .. } | Self::CombSum | Self::BordaFuse | Self::Rbc { .. } => sum,
            Self::CombMnz | Self::Isr => sum * count,
            Self::CombAnz => sum / count,
            Self::CombMax => shares.iter().copied().fold(f64::NEG_INFINITY, f64::max),
            Self::CombMin => shares.iter().copied().fold(f64::INFINITY, f64::min),
            Self::CombMed => median(shares),
            Self::LogIsr => sum * count.ln(),
        }
    }
}

fn median(shares: &[f64]) -> f64 {
    let mut sorted = shares.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    if sorted.len() % 2 == 1 {
        sorted[middle]
    } else {
        f64::midpoint(sorted[middle - 1], sorted[middle])
    }
}
