//! A block of rows that is compared with all questions while it is in the cache.

use rten_simd::SimdOp as _;

use crate::margin::PLAIN_SQUARES;
use crate::questions::Questions;
use crate::scan::Scan;

/// A row that may be among the best of a question.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Candidate {
    pub(crate) question: u32,
    /// The row's place in the round.
    pub(crate) place: u32,
    /// The product's cosine; not a number if the row or the question is too extreme for the product.
    pub(crate) cosine: f32,
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
    /// The place of the first row in the round.
    pub(crate) start: u32,
}

impl Block<'_> {
    /// The rows that reach the bound of a question.
    pub(crate) fn candidates(
        self,
        questions: &Questions,
        bounds: &[f32],
        scratch: &mut Scratch,
    ) -> Vec<Candidate> {
        let mut candidates = Vec::new();
        let width = questions.count();
        let products = questions.products(self.vectors, &mut scratch.products);
        let vectors = self.vectors.chunks_exact(questions.dimension());
        let rows = vectors.zip(self.numbers).zip(products.chunks_exact(width));
        for (place, ((vector, number), products)) in (self.start..).zip(rows) {
            if number.is_none() {
                continue;
            }
            let candidate = |question: usize, cosine| Candidate {
                question: u32::try_from(question).expect("a pass has fewer questions"),
                place,
                cosine,
            };
            let square = squared_length(vector);
            if !PLAIN_SQUARES.contains(&square) {
                candidates.extend((0..width).map(|question| candidate(question, f32::NAN)));
                continue;
            }
            let inverse = square.sqrt().recip();
            scratch.reached.clear();
            let scan = Scan {
                products,
                inverse,
                bounds,
                reached: &mut scratch.reached,
            };
            scan.dispatch();
            let reached = scratch.reached.iter();
            candidates.extend(
                reached.map(|question| candidate(*question, products[*question] * inverse)),
            );
            let extreme = questions.extreme().iter();
            candidates.extend(extreme.map(|question| candidate(*question, f32::NAN)));
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
