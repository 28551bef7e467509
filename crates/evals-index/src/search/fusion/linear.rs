//! The convex combination of normalised scores.

use super::{Scores, add};
use crate::search::hit::Hit;

pub(super) fn fuse(lexical: &[Hit], semantic: &[Hit], weight: f64) -> Scores {
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

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_close, hits};
    use super::*;

    #[test]
    fn weighs_normalised_scores() {
        let lexical = hits(&[(0, 10.0), (1, 6.0), (2, 2.0)]);
        let semantic = hits(&[(2, 0.75), (1, 0.5), (3, 0.25)]);
        // Lexical 1, 0.5, 0; semantic 1, 0.5, 0.
        assert_close(
            &fuse(&lexical, &semantic, 0.25),
            &[(0, 0.75), (1, 0.5), (2, 0.25), (3, 0.0)],
        );
    }

    #[test]
    fn equal_scores_all_become_one() {
        assert_close(
            &fuse(&hits(&[(0, 3.0), (1, 3.0)]), &hits(&[(2, -0.5)]), 0.5),
            &[(0, 0.5), (1, 0.5), (2, 0.5)],
        );
    }

    #[test]
    fn a_weight_of_one_is_the_semantic_search() {
        let fused = fuse(&hits(&[(0, 9.0)]), &hits(&[(1, 0.9), (2, 0.1)]), 1.0);
        assert_close(&fused, &[(0, 0.0), (1, 1.0), (2, 0.0)]);
    }
}
