//! Reciprocal rank fusion.

use evals_metrics::fusion::reciprocal_rank;

use super::{Scores, add};
use crate::search::hit::Hit;

pub(super) fn fuse(lexical: &[Hit], semantic: &[Hit], k: u32) -> Scores {
    let mut scores = Scores::new();
    for ranking in [lexical, semantic] {
        for (rank, hit) in (1_u32..).zip(ranking) {
            add(&mut scores, hit.position, reciprocal_rank(k, rank));
        }
    }
    scores
}

#[cfg(test)]
mod tests {
    use super::super::tests::{assert_close, hits};
    use super::*;

    #[test]
    fn adds_reciprocal_ranks() {
        let lexical = hits(&[(7, 12.0), (3, 4.0)]);
        let semantic = hits(&[(3, 0.9), (5, 0.8), (7, 0.1)]);
        // Chunk 3: 1/62 + 1/61, chunk 5: 1/62, chunk 7: 1/61 + 1/63.
        assert_close(
            &fuse(&lexical, &semantic, 60),
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
            fuse(&hits(&[(0, 100.0)]), &semantic, 60),
            fuse(&hits(&[(0, 0.1)]), &semantic, 60)
        );
    }

    #[test]
    fn k_is_added_to_each_rank() {
        assert_close(
            &fuse(&hits(&[(0, 1.0), (1, 0.5)]), &[], 1),
            &[(0, 0.5), (1, 1.0 / 3.0)],
        );
    }
}
