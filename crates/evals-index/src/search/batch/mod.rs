//! Searching many questions at once: what a benchmark asks, which knows its questions beforehand.

mod observer;
mod progress;
mod questions;
mod run;
mod searcher;
mod similarity;
mod vectors;

pub(crate) use searcher::BatchSearcher;
pub(crate) use similarity::cosine;
pub(crate) use vectors::{compare_all, reading, scan};

pub use observer::{BatchObserver, BatchProgress, BatchStage};
pub use questions::QuestionBatch;
