//! The nearest vectors of many questions, exactly and in one pass.

use std::cmp::Ordering;
use std::sync::Arc;

use evals_nearest::Exact;

use crate::search::cosine;

/// Scores vectors as the engine does, and orders equal ones by their numbers.
#[derive(Debug)]
pub(super) struct Cosines {
    pub(super) questions: Arc<[f32]>,
    pub(super) dimension: usize,
}

impl Exact for Cosines {
    fn score(&self, question: usize, vector: &[f32]) -> f32 {
        cosine(&self.questions, question, vector, self.dimension)
    }

    fn order_of_equals(&self, left: u32, right: u32) -> Ordering {
        left.cmp(&right)
    }
}
