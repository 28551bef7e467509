//! Closeness plus the logarithm of BM25.

use super::{Scores, add};
use crate::search::hit::Hit;

pub(super) fn fuse(lexical: &[Hit], semantic: &[Hit]) -> Scores {
    let mut scores = Scores::new();
    for hit in semantic {
        add(&mut scores, hit.position, closeness(hit.score));
    }
    for hit in lexical {
        add(&mut scores, hit.position, log_bm25(hit.score));
    }
    scores
}

/// 1 / (1 + distance), where the cosine distance is 1 − the similarity.
fn closeness(similarity: f32) -> f64 {
    let distance = 1.0 - f64::from(similarity);
    1.0 / (1.0 + distance)
}

/// log10(1 + score), which grows from 0. A BM25 score of 0 or below means that no term matched.
fn log_bm25(score: f32) -> f64 {
    if score > 0.0 {
        (1.0 + f64::from(score)).log10()
    } else {
        0.0
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_close, hits};
    use super::*;

    #[test]
    fn adds_closeness_and_the_logarithm() {
        let lexical = hits(&[(0, 99.0), (1, 9.0), (2, 0.25)]);
        let semantic = hits(&[(1, 1.0), (2, 0.0), (3, -1.0)]);
        // Closeness of similarity 1, 0, −1: 1, 1/2, 1/3. Logarithms of 100, 10, 1.25: 2, 1, 0.09691.
        assert_close(
            &fuse(&lexical, &semantic),
            &[(0, 2.0), (1, 2.0), (2, 0.596_910_013), (3, 1.0 / 3.0)],
        );
    }

    #[test]
    fn a_weak_match_is_better_than_none() {
        let fused = fuse(&hits(&[(0, 0.01)]), &hits(&[(0, 0.5), (1, 0.5)]));
        assert!(fused[&0] > fused[&1], "{fused:?}");
    }

    #[test]
    fn a_score_of_zero_adds_nothing() {
        assert_close(
            &fuse(&hits(&[(0, 0.0), (1, -1.0)]), &hits(&[(0, 1.0)])),
            &[(0, 1.0), (1, 0.0)],
        );
    }
}
