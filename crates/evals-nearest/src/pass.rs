//! One pass over the rows for all questions.

use rayon::prelude::*;

use crate::best::{Best, Exact, Hit};
use crate::block::{Block, Scratch};
use crate::margin::margin;
use crate::questions::Questions;

/// Products of one block of rows: half a megabyte, which stays in the cache of a core between the product and the comparison.
const BLOCK_PRODUCTS: usize = 1 << 17;
/// Rows in a block, whatever the number of questions.
const BLOCK_ROWS: std::ops::RangeInclusive<usize> = 64..=1024;
/// Rows of the first round. As long as a question has no floor, each row is a candidate.
const FIRST_ROUND: usize = 256;

/// A search of all rows for the `k` nearest of each question. Rows come in batches, in any order.
///
/// Memory is twice `k` hits of 8 bytes for each question, and half a megabyte for each processor.
#[derive(Debug)]
pub struct Pass<E> {
    questions: Questions,
    best: Vec<Best>,
    k: usize,
    exact: E,
    margin: f64,
    rows: usize,
}

impl<E: Exact> Pass<E> {
    /// Begins a pass. `questions` are vectors one after the other, each of `dimension` components, in the order of their numbers.
    ///
    /// # Panics
    ///
    /// `k` or `dimension` is 0, or `questions` does not divide into vectors.
    pub fn new(questions: &[f32], dimension: usize, k: usize, exact: E) -> Self {
        assert!(k > 0, "a search finds at least one row");
        assert!(
            dimension > 0 && questions.len().is_multiple_of(dimension),
            "questions divide into vectors"
        );
        let questions = Questions::new(questions, dimension);
        let best = std::iter::repeat_with(Best::default);
        Self {
            best: best.take(questions.count()).collect(),
            questions,
            k,
            exact,
            margin: margin(dimension),
            rows: 0,
        }
    }

    /// Compares rows with all questions, on the threads of the current rayon pool. `vectors` are one after the other, and `numbers` names
    /// each; a row without a number is passed over.
    ///
    /// # Panics
    ///
    /// There are not as many numbers as vectors.
    pub fn add(&mut self, vectors: &[f32], numbers: &[Option<u32>]) {
        let dimension = self.questions.dimension();
        assert_eq!(vectors.len(), numbers.len() * dimension, "one number each");
        if self.questions.count() == 0 {
            self.rows += numbers.iter().flatten().count();
            return;
        }
        let (mut vectors, mut numbers) = (vectors, numbers);
        while !numbers.is_empty() {
            // The bounds of a round are those from before it: the more rows are behind them, the longer they hold.
            let round = self.rows.max(FIRST_ROUND).min(numbers.len());
            let (of_round, rest) = vectors.split_at(round * dimension);
            let (numbered, others) = numbers.split_at(round);
            self.round(of_round, numbered);
            (vectors, numbers) = (rest, others);
        }
    }

    fn round(&mut self, vectors: &[f32], numbers: &[Option<u32>]) {
        let dimension = self.questions.dimension();
        let bounds = self.bounds();
        let fitting = BLOCK_PRODUCTS / self.questions.count();
        let rows = fitting.clamp(*BLOCK_ROWS.start(), *BLOCK_ROWS.end());
        let (questions, exact) = (&self.questions, &self.exact);
        let candidates: Vec<_> = vectors
            .par_chunks(rows * dimension)
            .zip(numbers.par_chunks(rows))
            .map_init(Scratch::default, |scratch, (vectors, numbers)| {
                Block { vectors, numbers }.candidates(questions, &bounds, exact, scratch)
            })
            .collect();
        for candidate in candidates.into_iter().flatten() {
            self.best[candidate.question as usize].push(candidate.hit, self.k, |left, right| {
                exact.order_of_equals(left, right)
            });
        }
        self.rows += numbers.iter().flatten().count();
    }

    /// The least approximate cosine of each question that may belong to one of its best rows.
    fn bounds(&self) -> Vec<f32> {
        let mut bounds: Vec<f32> = self
            .best
            .iter()
            .map(|best| match best.floor() {
                Some(floor) => below(f64::from(floor) - self.margin),
                None => f32::NEG_INFINITY,
            })
            .collect();
        for question in self.questions.extreme() {
            bounds[*question] = f32::INFINITY;
        }
        bounds
    }

    /// How many numbered rows have been compared.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// The best rows of each question, best first: up to `k` of them. Rows whose score is not a number are not among them.
    pub fn finish(self) -> Vec<Vec<Hit>> {
        let Self { best, k, exact, .. } = self;
        best.into_par_iter()
            .map(|best| best.into_sorted(k, |left, right| exact.order_of_equals(left, right)))
            .collect()
    }
}

/// A single that is not above `value`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the next smaller number makes up for it"
)]
fn below(value: f64) -> f32 {
    (value as f32).next_down()
}
