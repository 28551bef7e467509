//! Searching many questions at once: what a benchmark asks, which knows its questions beforehand.

mod observer;
mod run;
mod searcher;
mod terms;
mod vectors;

use std::collections::HashSet;
use std::num::NonZeroUsize;

pub(crate) use searcher::BatchSearcher;
pub(super) use vectors::nearest_to;
pub(crate) use vectors::{Cosines, compare_all, reading, scan};

pub use observer::{BatchObserver, BatchProgress, BatchStage};

/// Questions that are searched together, because they are known beforehand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QuestionBatch {
    /// The questions. Repetitions are searched once.
    pub questions: Vec<String>,
    /// How many documents each search will want: the `k` of the later calls.
    pub k: usize,
    /// The questions among them that a later search asks on its own as well, to measure how long that takes.
    pub timed: HashSet<String>,
    /// How many questions are embedded at the same time.
    pub concurrency: NonZeroUsize,
}
