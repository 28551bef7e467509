//! Formulas that join the results of a lexical and a semantic search.
//!
//! They work on chunks: the scores of the two searches belong to chunks, and a document's rank follows from its best chunk only
//! after fusion. Each is computed in double precision and rounded to single precision at the end, before anything is sorted, so
//! that ties are those that an exported ranking shows.

mod linear;
mod log_bm25;
mod rrf;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::search::Hit;

/// How the two rankings of a hybrid search become one.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(tag = "method", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fusion {
    /// Reciprocal rank fusion: Σ 1 / (k + rank), ranks from 1.
    ///
    /// Source: Cormack, Clarke and Büttcher, *Reciprocal Rank Fusion outperforms Condorcet and individual Rank Learning Methods*,
    /// SIGIR 2009, where k = 60 was found to be near the best.
    Rrf {
        /// How little the first ranks stand out, at least 1. Default 60.
        #[serde(default = "default_k")]
        k: u32,
    },
    /// Convex combination of min-max normalised scores: weight · semantic + (1 − weight) · lexical.
    ///
    /// Each search's scores are mapped to 0 … 1 over the chunks that it returned for the question; equal scores all become 1, and a
    /// chunk that a search did not return has 0 from it. Source: Bruch, Gai and Ingber, *An Analysis of Fusion Functions for Hybrid
    /// Retrieval*, ACM TOIS 42, 2023.
    Linear {
        /// Share of the semantic score, 0 to 1. Default 0.5.
        #[serde(default = "default_weight")]
        weight: f64,
    },
    /// closeness + log10(1 + bm25), with closeness = 1 / (1 + cosine distance).
    ///
    /// A term is left out where its search did not return the chunk, and the logarithm where the BM25 score is not above 0.
    /// Closeness is defined as in Vespa's rank feature of that name; the logarithm brings BM25, which has no upper bound, to the
    /// same order of magnitude without looking at the other results. It departs from a plain log10(bm25), which is below 0 for
    /// scores below 1, so that a match never lowers a chunk's score.
    LogBm25,
}

fn default_k() -> u32 {
    Fusion::DEFAULT_K
}

fn default_weight() -> f64 {
    Fusion::DEFAULT_WEIGHT
}

impl Default for Fusion {
    fn default() -> Self {
        Self::Rrf { k: Self::DEFAULT_K }
    }
}

impl Fusion {
    /// Cormack's k.
    pub const DEFAULT_K: u32 = 60;
    /// Both searches count the same.
    pub const DEFAULT_WEIGHT: f64 = 0.5;

    /// Whether the parameters make sense: k has to be at least 1, and a weight to lie in 0 … 1.
    pub fn is_valid(self) -> bool {
        match self {
            Self::Linear { weight } => (0.0..=1.0).contains(&weight),
            Self::Rrf { k } => k > 0,
            Self::LogBm25 => true,
        }
    }

    /// One score for each chunk that either search returned, by position.
    ///
    /// Both lists are in the order of their search, which is what ranks count.
    pub(crate) fn fuse(self, lexical: &[Hit], semantic: &[Hit]) -> Vec<Hit> {
        let fused = match self {
            Self::Rrf { k } => rrf::fuse(lexical, semantic, k),
            Self::Linear { weight } => linear::fuse(lexical, semantic, weight),
            Self::LogBm25 => log_bm25::fuse(lexical, semantic),
        };
        fused
            .into_iter()
            .map(|(position, score)| Hit::new(position, single(score)))
            .collect()
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "rankings hold scores in single precision"
)]
fn single(score: f64) -> f32 {
    score as f32
}

/// Sums by position: each search adds its share.
type Scores = BTreeMap<usize, f64>;

fn add(scores: &mut Scores, position: usize, share: f64) {
    *scores.entry(position).or_default() += share;
}

#[cfg(test)]
mod tests {
    use super::*;

    pub(super) fn hits(scores: &[(usize, f32)]) -> Vec<Hit> {
        scores
            .iter()
            .map(|&(position, score)| Hit::new(position, score))
            .collect()
    }

    pub(super) fn assert_close(actual: &Scores, expected: &[(usize, f64)]) {
        assert_eq!(actual.len(), expected.len(), "{actual:?}");
        for ((position, score), (expected_position, expected_score)) in actual.iter().zip(expected)
        {
            assert_eq!(position, expected_position);
            assert!(
                (score - expected_score).abs() < 1e-7,
                "{position}: {score} instead of {expected_score}"
            );
        }
    }

    #[test]
    fn settings_name_the_method() {
        let read = |json| serde_json::from_str::<Fusion>(json);
        assert_eq!(read(r#"{"method":"rrf"}"#).unwrap(), Fusion::default());
        assert_eq!(
            read(r#"{"method":"linear","weight":0.25}"#).unwrap(),
            Fusion::Linear { weight: 0.25 }
        );
        assert_eq!(read(r#"{"method":"log-bm25"}"#).unwrap(), Fusion::LogBm25);
        assert!(read(r#"{"method":"rrf","weight":0.25}"#).is_err());
        assert!(!Fusion::Linear { weight: 1.5 }.is_valid());
        assert!(!Fusion::Rrf { k: 0 }.is_valid());
        assert!(Fusion::Rrf { k: 1 }.is_valid());
    }

    #[test]
    fn nothing_found_fuses_to_nothing() {
        for fusion in [
            Fusion::default(),
            Fusion::Linear { weight: 0.5 },
            Fusion::LogBm25,
        ] {
            assert!(fusion.fuse(&[], &[]).is_empty());
        }
    }

    #[test]
    fn the_two_orders_of_a_sum_tie() {
        let fused =
            Fusion::default().fuse(&hits(&[(0, 9.0), (1, 8.0)]), &hits(&[(1, 0.9), (0, 0.8)]));
        assert_eq!(fused[0].score.to_bits(), fused[1].score.to_bits());
    }
}
