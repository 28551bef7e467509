//! The similarity of a question and a chunk, computed by the engine's own function.

use std::cmp::Ordering;
use std::sync::Arc;

use evals_nearest::Exact;
use lance_linalg::distance::cosine_distance_batch;

use crate::search::hit::{self, Hit};
use crate::table::contents::Contents;

/// The cosine of a vector and the question of this number, equal to the engine's to the last bit.
pub(crate) fn cosine(questions: &[f32], number: usize, vector: &[f32], dimension: usize) -> f32 {
    let question = &questions[number * dimension..(number + 1) * dimension];
    let distance = cosine_distance_batch(question, vector, dimension).next();
    let distance = distance.expect("the batch is one vector");
    Hit::of_distance(0, distance).score
}

/// Scores chunks as a search of one question does, whose distances come from the same function of the engine.
#[derive(Debug)]
pub(super) struct Similarity {
    pub(super) contents: Arc<Contents>,
    /// The questions' vectors, one after the other.
    pub(super) questions: Arc<[f32]>,
    pub(super) dimension: usize,
}

impl Exact for Similarity {
    fn score(&self, question: usize, vector: &[f32]) -> f32 {
        cosine(&self.questions, question, vector, self.dimension)
    }

    fn order_of_equals(&self, left: u32, right: u32) -> Ordering {
        hit::order_of_equals(left as usize, right as usize, &self.contents.positions)
    }
}
