//! The similarity of a question and a vector, computed by the engine's own function.

use std::cmp::Ordering;
use std::sync::Arc;

use evals_nearest::Exact;
use lance_linalg::distance::cosine_distance_batch;

use crate::search::hit::Hit;

/// Scores vectors as a search of one question does, whose distances come from the same function of the engine: equal to the last bit.
pub(crate) struct Cosines<O> {
    /// The questions' vectors, one after the other.
    pub(crate) questions: Arc<[f32]>,
    pub(crate) dimension: usize,
    /// The order of two rows with one score.
    pub(crate) order_of_equals: O,
}

impl<O: Fn(u32, u32) -> Ordering + Sync> Exact for Cosines<O> {
    fn score(&self, question: usize, vector: &[f32]) -> f32 {
        let question = &self.questions[question * self.dimension..(question + 1) * self.dimension];
        let distance = cosine_distance_batch(question, vector, self.dimension).next();
        Hit::of_distance(0, distance.expect("the batch is one vector")).score
    }

    fn order_of_equals(&self, left: u32, right: u32) -> Ordering {
        (self.order_of_equals)(left, right)
    }
}
