//! One pass over the rows for all questions.

use rayon::prelude::*;

use crate::best::{Best, Exact, Hit};
use crate::block::{Block, Candidate, Scratch};
use crate::margin::margin;
use crate::questions::Questions;

/// Products of one block of rows: half a megabyte, which stays in the cache of a core between the product and the comparison.
const BLOCK_PRODUCTS: usize = 1 << 17;
/// Rows in a block, whatever the number of questions.
const BLOCK_ROWS: std::ops::RangeInclusive<usize> = 64..=1024;
/// Rows of the first round, if the searches are not for more. As long as a question has no floor, each row is a candidate.
const FIRST_ROUND: usize = 512;
/// How many times as many rows as before it a round has. Until its end, the bounds are those from before it.
const GROWTH: usize = 3;
/// A question with more candidates than this part of what it looks for is asked first which of them are certainly not among the best.
const MANY: usize = 4;

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
        if self.questions.count() == 1 {
            return self.score_all(vectors, numbers);
        }
        let (mut vectors, mut numbers) = (vectors, numbers);
        while !numbers.is_empty() {
            let round = (GROWTH * self.rows).max(2 * self.k).max(FIRST_ROUND);
            let round = round.min(numbers.len());
            let (of_round, rest) = vectors.split_at(round * dimension);
            let (numbered, others) = numbers.split_at(round);
            self.round(of_round, numbered);
            (vectors, numbers) = (rest, others);
        }
    }

    /// Compares rows with the only question, for which a product would save nothing.
    fn score_all(&mut self, vectors: &[f32], numbers: &[Option<u32>]) {
        let dimension = self.questions.dimension();
        let (exact, floor) = (&self.exact, self.best[0].floor());
        let hit = |(vector, number): (&[f32], &Option<u32>)| {
            let (row, score) = ((*number)?, exact.score(0, vector));
            floor
                .is_none_or(|floor| score >= floor)
                .then_some(Hit { row, score })
        };
        let rows = *BLOCK_ROWS.end();
        let blocks = vectors
            .par_chunks(rows * dimension)
            .zip(numbers.par_chunks(rows));
        let hits: Vec<Vec<Hit>> = blocks
            .map(|(vectors, numbers)| {
                let rows = vectors.chunks_exact(dimension).zip(numbers);
                rows.filter_map(hit).collect()
            })
            .collect();
        for hit in hits.into_iter().flatten() {
            self.best[0].push(hit, self.k, |left, right| {
                exact.order_of_equals(left, right)
            });
        }
        self.rows += numbers.iter().flatten().count();
    }

    fn round(&mut self, vectors: &[f32], numbers: &[Option<u32>]) {
        let dimension = self.questions.dimension();
        let bounds = self.bounds();
        let fitting = BLOCK_PRODUCTS / self.questions.count();
        let rows = fitting.clamp(*BLOCK_ROWS.start(), *BLOCK_ROWS.end());
        let questions = &self.questions;
        let blocks: Vec<Vec<Candidate>> = vectors
            .par_chunks(rows * dimension)
            .zip(numbers.par_chunks(rows))
            .enumerate()
            .map_init(Scratch::default, |scratch, (block, (vectors, numbers))| {
                let start = u32::try_from(block * rows).expect("a batch has fewer rows");
                let block = Block {
                    vectors,
                    numbers,
                    start,
                };
                block.candidates(questions, &bounds, scratch)
            })
            .collect();
        let mut of_questions = vec![Vec::new(); questions.count()];
        for candidate in blocks.into_iter().flatten() {
            of_questions[candidate.question as usize].push((candidate.place, candidate.cosine));
        }
        let (exact, k, margin) = (&self.exact, self.k, self.margin);
        let order = |left, right| exact.order_of_equals(left, right);
        let best = self.best.par_iter_mut().zip(of_questions).enumerate();
        best.for_each(|(question, (best, mut candidates))| {
            if candidates.len() > k / MANY {
                narrow(&mut candidates, best, k, margin);
            }
            for (place, _) in candidates {
                let place = place as usize;
                let row = numbers[place].expect("only numbered rows are candidates");
                let vector = &vectors[place * dimension..(place + 1) * dimension];
                let score = exact.score(question, vector);
                best.push(Hit { row, score }, k, order);
            }
        });
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

/// Drops candidates that are not among the best `k`: at least as many other rows certainly have higher scores.
fn narrow(candidates: &mut Vec<(u32, f32)>, best: &Best, k: usize, margin: f64) {
    let cosines = candidates.iter().map(|(_, cosine)| *cosine);
    let certain = cosines.filter(|cosine| !cosine.is_nan());
    let certain = certain.map(|cosine| below(f64::from(cosine) - margin));
    let mut certain: Vec<f32> = certain.chain(best.scores()).collect();
    if certain.len() < k {
        return;
    }
    let (_, floor, _) = certain.select_nth_unstable_by(k - 1, |left, right| right.total_cmp(left));
    let bound = below(f64::from(*floor) - margin);
    candidates.retain(|(_, cosine)| cosine.is_nan() || *cosine >= bound);
}

/// A single that is not above `value`.
#[expect(
    clippy::cast_possible_truncation,
    reason = "the next smaller number makes up for it"
)]
fn below(value: f64) -> f32 {
    (value as f32).next_down()
}
