//! The best rows of one question so far.

use std::cmp::Ordering;

/// How the caller scores and orders rows.
pub trait Exact: Sync {
    /// The score of a vector for the question of this number: its cosine in 32-bit floats, from which sums in any order and up to four
    /// further roundings may follow. The score decides; the product only tells which vectors need one. A vector whose score is not a
    /// number, such as one of zeros, is not found.
    fn score(&self, question: usize, vector: &[f32]) -> f32;

    /// Which of two rows with one score comes first.
    fn order_of_equals(&self, left: u32, right: u32) -> Ordering;
}

/// A row that a question found.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The number that the caller gave the row.
    pub row: u32,
    /// The caller's score of the row.
    pub score: f32,
}

/// The best `k` rows, and up to as many others that are dropped together.
#[derive(Debug, Default)]
pub(crate) struct Best {
    hits: Vec<Hit>,
    /// The k-th best score when rows were last dropped.
    floor: Option<f32>,
}

impl Best {
    /// A score below this one is not among the best. `None` as long as any may be.
    pub(crate) fn floor(&self) -> Option<f32> {
        self.floor
    }

    /// The scores of the best rows, and of others.
    pub(crate) fn scores(&self) -> impl Iterator<Item = f32> {
        self.hits.iter().map(|hit| hit.score)
    }

    /// Adds a row, unless its score is not a number. A row with the same score as the floor counts, because it may come first among equals.
    pub(crate) fn push(
        &mut self,
        hit: Hit,
        k: usize,
        equals: impl Fn(u32, u32) -> Ordering + Copy,
    ) {
        // The sign of 0 / 0 differs between x86 and ARM, so the total order would put it first on one of them.
        if hit.score.is_nan() || self.floor.is_some_and(|floor| hit.score < floor) {
            return;
        }
        self.hits.push(hit);
        // The first time already at k + 1 rows, so that a floor exists early.
        if self.hits.len() >= 2 * k || (self.floor.is_none() && self.hits.len() > k) {
            self.drop_others(k, equals);
        }
    }

    fn drop_others(&mut self, k: usize, equals: impl Fn(u32, u32) -> Ordering) {
        if self.hits.len() > k {
            self.hits
                .select_nth_unstable_by(k - 1, |left, right| order(*left, *right, &equals));
            self.hits.truncate(k);
            self.floor = Some(self.hits[k - 1].score);
        }
    }

    /// The best `k` rows, best first.
    pub(crate) fn into_sorted(
        mut self,
        k: usize,
        equals: impl Fn(u32, u32) -> Ordering,
    ) -> Vec<Hit> {
        self.drop_others(k, &equals);
        self.hits
            .sort_unstable_by(|left, right| order(*left, *right, &equals));
        self.hits.shrink_to_fit();
        self.hits
    }
}

fn order(left: Hit, right: Hit, equals: impl Fn(u32, u32) -> Ordering) -> Ordering {
    let by_score = right.score.total_cmp(&left.score);
    by_score.then_with(|| equals(left.row, right.row))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn best(scores: &[f32], k: usize) -> Vec<u32> {
        let mut best = Best::default();
        for (row, score) in (0..).zip(scores) {
            let hit = Hit { row, score: *score };
            best.push(hit, k, |left, right| right.cmp(&left));
        }
        let sorted = best.into_sorted(k, |left, right| right.cmp(&left));
        sorted.iter().map(|hit| hit.row).collect()
    }

    #[test]
    fn equals_at_the_cut_are_ordered_by_the_caller() {
        assert_eq!(best(&[1.0, 2.0, 1.0, 1.0, 1.0, 1.0], 2), [1, 5]);
        assert_eq!(best(&[1.0; 9], 3), [8, 7, 6]);
        assert_eq!(best(&[3.0, 1.0, 2.0], 5), [0, 2, 1]);
    }

    #[test]
    fn a_score_that_is_not_a_number_is_no_hit() {
        for nan in [f32::NAN, -f32::NAN] {
            assert_eq!(best(&[nan, 1.0, nan, nan, nan, 2.0], 1), [5]);
            assert_eq!(best(&[nan, nan, nan, 1.0], 2), [3]);
            assert!(best(&[nan; 9], 2).is_empty());
        }
    }

    #[test]
    fn a_floor_needs_more_rows_than_are_wanted() {
        let mut best = Best::default();
        for (row, score) in [(0, 1.0), (1, 3.0)] {
            best.push(Hit { row, score }, 2, |left, right| left.cmp(&right));
        }
        assert_eq!(best.floor(), None);
        let (row, score) = (2, 2.0);
        best.push(Hit { row, score }, 2, |left, right| left.cmp(&right));
        assert_eq!(best.floor(), Some(2.0));
    }
}
