//! Recall of an approximate nearest-neighbour search against an exact one.

use std::collections::HashSet;
use std::hash::Hash;

use crate::arithmetic::as_f64;

/// The share of a question's `k` nearest neighbours that a search found, between 0 and 1: recall@k of approximate search, as in
/// Aumüller, Bernhardsson and Faithfull, "ANN-Benchmarks" (Information Systems 87, 2020).
///
/// `exact` holds the neighbours with their scores, best first. It has to go further than `k` where neighbours are tied with the k-th: each
/// of them is a right answer, because exact search chooses among them by their ids alone. Of `found`, the first `k` count, each once.
/// Where there are fewer than `k` neighbours, all of them have to be found. `None` without neighbours or with a `k` of 0.
///
/// ```
/// use evals_metrics::neighbour_recall;
///
/// let exact = [("a", 0.9), ("b", 0.8), ("c", 0.8), ("d", 0.1)];
/// assert_eq!(neighbour_recall(&["a", "d"], &exact, 2), Some(0.5));
/// assert_eq!(neighbour_recall(&["c", "a"], &exact, 2), Some(1.0), "c is as near as b");
/// ```
pub fn neighbour_recall<I: Eq + Hash>(found: &[I], exact: &[(I, f32)], k: usize) -> Option<f64> {
    let wanted = k.min(exact.len());
    let last = wanted.checked_sub(1)?;
    let least = exact[last].1;
    let right = exact.iter().take_while(|(_, score)| *score >= least);
    let right: HashSet<&I> = right.map(|(neighbour, _)| neighbour).collect();
    let found: HashSet<&I> = found.iter().take(k).collect();
    let hits = right.intersection(&found).count().min(wanted);
    Some(as_f64(hits) / as_f64(wanted))
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXACT: [(u32, f32); 5] = [(1, 0.9), (2, 0.8), (3, 0.8), (4, 0.8), (5, 0.1)];

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
