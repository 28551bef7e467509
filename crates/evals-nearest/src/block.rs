//! A block of rows that is compared with all questions while it is in the cache.

use rten_simd::SimdOp as _;

use crate::best::{Exact, Hit};
use crate::margin::PLAIN_SQUARES;
use crate::questions::Questions;
use crate::scan::Scan;

/// A row that may be among the best of a question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) question: u32,
    pub(crate) hit: Hit,
}

/// Buffers of one thread.
#[derive(Debug, Default)]
pub(crate) struct Scratch {
    products: Vec<f32>,
    reached: Vec<usize>,
}

/// Rows one after the other, and the number of each; a row without a number is passed over.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Block<'a> {
    pub(crate) vectors: &'a [f32],
    pub(crate) numbers: &'a [Option<u32>],
}

impl Block<'_> {
    /// The rows that reach the bound of a question, with their exact scores.
    pub(crate) fn candidates(
        self,
        questions: &Questions,
        bounds: &[f32],
        exact: &impl Exact,
        scratch: &mut Scratch,
    ) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let width = questions.count();
        let products = questions.products(self.vectors, &mut scratch.products);
        let vectors = self.vectors.chunks_exact(questions.dimension());
        for ((vector, number), products) in
            vectors.zip(self.numbers).zip(products.chunks_exact(width))
        {
            let Some(row) = *number else { continue };
            scratch.reached.clear();
            let square = squared_length(vector);
            if PLAIN_SQUARES.contains(&square) {
                let scan = Scan {
                    products,
                    inverse: square.sqrt().recip(),
                    bounds,
                    reached: &mut scratch.reached,
                };
                scan.dispatch();
                scratch.reached.extend(questions.extreme());
            } else {
                scratch.reached.extend(0..width);
            }
            candidates.extend(scratch.reached.iter().map(|question| {
                let score = exact.score(*question, vector);
                Candidate {
                    question: u32::try_from(*question).expect("a pass has fewer questions"),
                    hit: Hit { row, score },
                }
            }));
        }
        candidates
    }
}

/// Partial sums in the squared length, as many as the widest registers hold.
const LANES: usize = 16;

fn squared_length(vector: &[f32]) -> f32 {
    let (chunks, rest) = vector.as_chunks::<LANES>();
    let mut sums = [0.0_f32; LANES];
    for chunk in chunks {
        for (sum, value) in sums.iter_mut().zip(chunk) {
            *sum += value * value;
        }
    }
    let rest: f32 = rest.iter().map(|value| value * value).sum();
    rest + sums.iter().sum::<f32>()
}
