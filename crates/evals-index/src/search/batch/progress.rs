//! Tells an observer how far a batch is.

use std::fmt;

use super::observer::{BatchObserver, BatchProgress, BatchStage};

/// The questions of a batch that are complete, and who wants to know.
pub(super) struct Progress<'a> {
    pub(super) observer: &'a dyn BatchObserver,
    pub(super) searched: usize,
    pub(super) questions: usize,
}

impl Progress<'_> {
    pub(super) fn tell(&self, stage: BatchStage, done: usize, total: usize) {
        self.observer.on_progress(BatchProgress {
            stage,
            done,
            total,
            searched: self.searched,
            questions: self.questions,
        });
    }
}

impl fmt::Debug for Progress<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Progress")
            .field("searched", &self.searched)
            .field("questions", &self.questions)
            .finish_non_exhaustive()
    }
}
