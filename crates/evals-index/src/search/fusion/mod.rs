//! The formulas that fuse the results of a lexical and a semantic search.
//!
//! They work on chunks, because the two searches score chunks; a document's rank follows from its best chunk after fusion. Scores are
//! computed in double precision and rounded to single precision before anything is sorted, so that an exported ranking has the same
//! ties.

mod linear;
mod log_bm25;
mod rrf;

use std::collections::BTreeMap;
use std::time::Instant;

use super::hit::{self, Found, Hit};
use crate::profile::Fusion;
use crate::table::positions::Positions;

/// One score for each chunk that either search returned, by position.
///
/// Both lists are in the order of their search, which gives the ranks.
fn fuse(fusion: Fusion, lexical: &[Hit], semantic: &[Hit]) -> Vec<Hit> {
    let fused = match fusion {
        Fusion::Rrf { k } => rrf::fuse(lexical, semantic, k),
        Fusion::Linear { weight } => linear::fuse(lexical, semantic, weight),
        Fusion::LogBm25 => log_bm25::fuse(lexical, semantic),
    };
    fused
        .into_iter()
        .map(|(position, score)| Hit::new(position, single(score)))
        .collect()
}

/// The results of both searches as one.
pub(super) fn fused(
    method: Fusion,
    lexical: &Found,
    semantic: &Found,
    positions: &Positions,
) -> Found {
    let started = Instant::now();
    let mut hits = fuse(method, &lexical.hits, &semantic.hits);
    hit::sort(&mut hits, positions);
    Found {
        hits,
        exhausted: lexical.exhausted && semantic.exhausted,
        duration: Some(started.elapsed()),
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
    fn nothing_found_fuses_to_nothing() {
        for fusion in [
            Fusion::default(),
            Fusion::Linear { weight: 0.5 },
            Fusion::LogBm25,
        ] {
            assert!(fuse(fusion, &[], &[]).is_empty());
        }
    }

    #[test]
    fn a_sum_ties_in_both_orders() {
        let lexical = hits(&[(0, 9.0), (1, 8.0)]);
        let semantic = hits(&[(1, 0.9), (0, 0.8)]);
        let fused = fuse(Fusion::default(), &lexical, &semantic);
        assert_eq!(fused[0].score.to_bits(), fused[1].score.to_bits());
    }
}
