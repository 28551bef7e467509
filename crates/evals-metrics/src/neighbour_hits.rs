//! The neighbours that an approximate search found, counted against those of an exact one.

use std::collections::HashSet;
use std::hash::Hash;
use std::iter::Sum;

use crate::arithmetic::share;

/// How many of the nearest neighbours an approximate search found, for one question or several: recall@k of approximate search, as in
/// Aumüller, Bernhardsson and Faithfull, "ANN-Benchmarks" (Information Systems 87, 2020).
///
/// Add the counts of several questions to get their recall without rounding errors; a mean of shares has one for each question. This recall
/// equals the mean of the questions' recalls if each question has the same number of neighbours, as in searches of one corpus.
///
/// ```
/// use evals_metrics::NeighbourHits;
///
/// let exact = [("a", 0.9), ("b", 0.8), ("c", 0.8), ("d", 0.1)];
/// let first = NeighbourHits::of(&["a", "d"], &exact, 2);
/// assert_eq!(first.recall(), Some(0.5));
/// let second = NeighbourHits::of(&["c", "a"], &exact, 2);
/// assert_eq!(second.recall(), Some(1.0), "c is as near as b");
/// let both: NeighbourHits = [first, second].into_iter().sum();
/// assert_eq!(both.recall(), Some(0.75));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct NeighbourHits {
    /// The neighbours that the search found.
    pub found: usize,
    /// The neighbours that it had to find.
    pub wanted: usize,
}

impl NeighbourHits {
    /// The hits of one question among its `k` nearest neighbours.
    ///
    /// `exact` holds the neighbours with their scores, best first. It has to contain all neighbours that are tied with the k-th: each of them
    /// is a right answer, because exact search chooses among them only by their ids. Of `found`, the first `k` count, each once. If `exact` has
    /// fewer than `k` neighbours, the search has to find all of them.
    pub fn of<I: Eq + Hash>(found: &[I], exact: &[(I, f32)], k: usize) -> Self {
        let wanted = k.min(exact.len());
        let Some(last) = wanted.checked_sub(1) else {
            return Self::default();
        };
        let least = exact[last].1;
        let right = exact.iter().take_while(|(_, score)| *score >= least);
        let right: HashSet<&I> = right.map(|(neighbour, _)| neighbour).collect();
        let found: HashSet<&I> = found.iter().take(k).collect();
        Self {
            found: right.intersection(&found).count().min(wanted),
            wanted,
        }
    }

    /// The share of the neighbours that the search found, from 0 to 1. `None` if the questions have no neighbours.
    pub fn recall(self) -> Option<f64> {
        (self.wanted > 0).then(|| share(self.found, self.wanted))
    }
}

impl Sum for NeighbourHits {
    fn sum<I: Iterator<Item = Self>>(hits: I) -> Self {
        hits.fold(Self::default(), |sum, hits| Self {
            found: sum.found + hits.found,
            wanted: sum.wanted + hits.wanted,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: [(u32, f32); 5] = [(1, 0.9), (2, 0.8), (3, 0.8), (4, 0.8), (5, 0.1)];

    fn neighbour_recall(found: &[u32], exact: &[(u32, f32)], k: usize) -> Option<f64> {
        NeighbourHits::of(found, exact, k).recall()
    }

    /// The mean of the shares is `0.989_999_999_999_997_8`, and would miss a limit of 0.99.
    #[test]
    fn the_recall_of_many_questions_is_not_rounded_at_each() {
        let exact: Vec<(u32, f32)> = (0..10_u8).map(|it| (it.into(), -f32::from(it))).collect();
        let all: Vec<u32> = (0..10).collect();
        let hits = (0..1000).map(|question| {
            let found = if question < 900 { &all[..] } else { &all[1..] };
            NeighbourHits::of(found, &exact, 10)
        });
        let hits: NeighbourHits = hits.sum();
        assert_eq!((hits.found, hits.wanted), (9_900, 10_000));
        assert_eq!(hits.recall(), Some(0.99));
    }

    #[test]
    fn counts_the_neighbours_among_the_first_k() {
        assert_eq!(neighbour_recall(&[1, 5], &EXACT, 1), Some(1.0));
        assert_eq!(
            neighbour_recall(&[5, 1], &EXACT, 1),
            Some(0.0),
            "only the first counts"
        );
        assert_eq!(neighbour_recall(&[], &EXACT, 3), Some(0.0));
        assert_eq!(neighbour_recall(&[1, 9, 5, 8], &EXACT, 5), Some(0.4));
    }

    #[test]
    fn any_of_the_tied_neighbours_is_right() {
        for found in [[1, 2], [1, 3], [4, 1]] {
            assert_eq!(neighbour_recall(&found, &EXACT, 2), Some(1.0));
        }
        assert_eq!(
            neighbour_recall(&[2, 3], &EXACT, 2),
            Some(1.0),
            "both are as near as the second"
        );
        assert_eq!(neighbour_recall(&[2, 5], &EXACT, 2), Some(0.5));
    }

    #[test]
    fn a_repeated_result_counts_once() {
        assert_eq!(neighbour_recall(&[1, 1], &EXACT, 2), Some(0.5));
    }

    #[test]
    fn a_small_corpus_has_to_be_found_whole() {
        assert_eq!(neighbour_recall(&[5, 4, 3, 2, 1], &EXACT, 10), Some(1.0));
        assert_eq!(neighbour_recall(&[5, 4], &EXACT, 10), Some(0.4));
    }

    #[test]
    fn without_neighbours_there_is_no_recall() {
        assert_eq!(neighbour_recall(&[1], &[], 10), None);
        assert_eq!(neighbour_recall(&[1], &EXACT, 0), None);
    }
}
