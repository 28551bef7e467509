//! The progress of a batch of questions.

/// Follows the groups of a batch. Called often, from the task that searches.
pub trait BatchObserver: Send + Sync {
    /// Something was finished.
    fn on_progress(&self, progress: BatchProgress);

    /// The group is complete, or failed.
    fn on_end(&self) {}
}

/// How far a group of questions is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BatchProgress {
    /// What is being done. The stages repeat for each group of questions.
    pub stage: BatchStage,
    /// How much of the stage is done: questions, or chunks while vectors are compared.
    pub done: usize,
    /// How much the stage has to do in all.
    pub total: usize,
    /// Questions whose results are complete.
    pub searched: usize,
    /// Questions of the group.
    pub questions: usize,
}

/// A part of the work on a group of questions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BatchStage {
    /// The model embeds the questions.
    Embedding,
    /// All questions are compared with the vector of each chunk.
    Vectors,
    /// The ranking of each question is made.
    Ranking,
}

/// Ignores the progress.
impl BatchObserver for crate::Unobserved {
    fn on_progress(&self, _progress: BatchProgress) {}
}

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
