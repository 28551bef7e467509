//! The formulas that fuse the results of a lexical and a semantic search.
//!
//! They work on chunks, because the two searches score chunks; a document's rank follows from its best chunk after fusion. Scores are
//! computed in double precision and rounded to single precision before anything is sorted, so that an exported ranking has the same
//! ties.

use std::collections::BTreeMap;
use std::time::Instant;

use evals_metrics::fusion::reciprocal_rank;

use super::hit::{self, FoundChunks, Hit};
use crate::profile::Fusion;
use crate::table::positions::Positions;

/// One score for each chunk that either search returned, by position.
///
/// Both lists are in the order of their search, which gives the ranks.
fn fuse(fusion: Fusion, lexical: &[Hit], semantic: &[Hit]) -> Vec<Hit> {
    let fused = match fusion {
        Fusion::Rrf { k } => rrf(lexical, semantic, k),
        Fusion::Linear { weight } => linear(lexical, semantic, weight),
        Fusion::LogBm25 => log_bm25(lexical, semantic),
    };
    fused
        .into_iter()
        .map(|(position, score)| Hit::new(position, single(score)))
        .collect()
}

/// The results of both searches as one.
pub(super) fn fused(
    method: Fusion,
    lexical: &FoundChunks,
    semantic: &FoundChunks,
    positions: &Positions,
) -> FoundChunks {
    let started = Instant::now();
    let mut hits = fuse(method, &lexical.hits, &semantic.hits);
    hit::sort(&mut hits, positions);
    FoundChunks {
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

/// Reciprocal rank fusion.
fn rrf(lexical: &[Hit], semantic: &[Hit], k: u32) -> Scores {
    let mut scores = Scores::new();
    for ranking in [lexical, semantic] {
        for (rank, hit) in (1_u32..).zip(ranking) {
            add(&mut scores, hit.position, reciprocal_rank(k, rank));
        }
    }
    scores
}

/// The convex combination of normalised scores.
fn linear(lexical: &[Hit], semantic: &[Hit], weight: f64) -> Scores {
    let mut scores = Scores::new();
    for (ranking, share) in [(lexical, 1.0 - weight), (semantic, weight)] {
        for (position, score) in normalised(ranking) {
            add(&mut scores, position, share * score);
        }
    }
    scores
}

/// Maps the lowest score to 0 and the highest to 1.
fn normalised(ranking: &[Hit]) -> impl Iterator<Item = (usize, f64)> {
    let score = |hit: &Hit| f64::from(hit.score);
    let low = ranking.iter().map(score).fold(f64::INFINITY, f64::min);
    let high = ranking.iter().map(score).fold(f64::NEG_INFINITY, f64::max);
    let range = high - low;
    ranking.iter().map(move |hit| {
        let normalised = if range > 0.0 {
            (score(hit) - low) / range
        } else {
            1.0
        };
        (hit.position, normalised)
    })
}

/// Closeness plus the logarithm of BM25.
fn log_bm25(lexical: &[Hit], semantic: &[Hit]) -> Scores {
    let mut scores = Scores::new();
    for hit in semantic {
        add(&mut scores, hit.position, closeness(hit.score));
    }
    for hit in lexical {
        add(&mut scores, hit.position, log_score(hit.score));
    }
    scores
}

/// 1 / (1 + distance), where the cosine distance is 1 − the similarity.
fn closeness(similarity: f32) -> f64 {
    let distance = 1.0 - f64::from(similarity);
    1.0 / (1.0 + distance)
}

/// log10(1 + score), which grows from 0. A BM25 score of 0 or below means that no term matched.
fn log_score(score: f32) -> f64 {
    if score > 0.0 {
        (1.0 + f64::from(score)).log10()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(scores: &[(usize, f32)]) -> Vec<Hit> {
        scores
            .iter()
            .map(|&(position, score)| Hit::new(position, score))
            .collect()
    }

    fn assert_close(actual: &Scores, expected: &[(usize, f64)]) {
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

    #[test]
    fn adds_reciprocal_ranks() {
        let lexical = hits(&[(7, 12.0), (3, 4.0)]);
        let semantic = hits(&[(3, 0.9), (5, 0.8), (7, 0.1)]);
        // Chunk 3: 1/62 + 1/61, chunk 5: 1/62, chunk 7: 1/61 + 1/63.
        assert_close(
            &rrf(&lexical, &semantic, 60),
            &[
                (3, 0.032_522_474_881),
                (5, 0.016_129_032_258),
                (7, 0.032_266_458_496),
            ],
        );
    }

    #[test]
    fn only_ranks_count() {
        let semantic = hits(&[(1, 0.5)]);
        assert_eq!(
            rrf(&hits(&[(0, 100.0)]), &semantic, 60),
            rrf(&hits(&[(0, 0.1)]), &semantic, 60)
        );
    }

    #[test]
    fn k_is_added_to_each_rank() {
        assert_close(
            &rrf(&hits(&[(0, 1.0), (1, 0.5)]), &[], 1),
            &[(0, 0.5), (1, 1.0 / 3.0)],
        );
    }

    #[test]
    fn weighs_normalised_scores() {
        let lexical = hits(&[(0, 10.0), (1, 6.0), (2, 2.0)]);
        let semantic = hits(&[(2, 0.75), (1, 0.5), (3, 0.25)]);
        // Lexical 1, 0.5, 0; semantic 1, 0.5, 0.
        assert_close(
            &linear(&lexical, &semantic, 0.25),
            &[(0, 0.75), (1, 0.5), (2, 0.25), (3, 0.0)],
        );
    }

    #[test]
    fn equal_scores_all_become_one() {
        assert_close(
            &linear(&hits(&[(0, 3.0), (1, 3.0)]), &hits(&[(2, -0.5)]), 0.5),
            &[(0, 0.5), (1, 0.5), (2, 0.5)],
        );
    }

    #[test]
    fn a_weight_of_one_is_the_semantic_search() {
        let fused = linear(&hits(&[(0, 9.0)]), &hits(&[(1, 0.9), (2, 0.1)]), 1.0);
        assert_close(&fused, &[(0, 0.0), (1, 1.0), (2, 0.0)]);
    }

    #[test]
    fn adds_closeness_and_the_logarithm() {
        let lexical = hits(&[(0, 99.0), (1, 9.0), (2, 0.25)]);
        let semantic = hits(&[(1, 1.0), (2, 0.0), (3, -1.0)]);
        // Closeness of similarity 1, 0, −1: 1, 1/2, 1/3. Logarithms of 100, 10, 1.25: 2, 1, 0.09691.
        assert_close(
            &log_bm25(&lexical, &semantic),
            &[(0, 2.0), (1, 2.0), (2, 0.596_910_013), (3, 1.0 / 3.0)],
        );
    }

    #[test]
    fn a_weak_match_is_better_than_none() {
        let fused = log_bm25(&hits(&[(0, 0.01)]), &hits(&[(0, 0.5), (1, 0.5)]));
        assert!(fused[&0] > fused[&1], "{fused:?}");
    }

    #[test]
    fn a_score_of_zero_adds_nothing() {
        assert_close(
            &log_bm25(&hits(&[(0, 0.0), (1, -1.0)]), &hits(&[(0, 1.0)])),
            &[(0, 1.0), (1, 0.0)],
        );
    }
}
