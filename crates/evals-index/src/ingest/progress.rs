use std::fmt::Debug;

use crate::lock_holder::LockHolder;

/// Watches a build.
pub trait BuildObserver: Debug + Send + Sync {
    /// Called after each portion of documents and at the start of each stage, from the task that runs the build: it has to be quick.
    fn on_progress(&self, progress: BuildProgress);

    /// Called when a build waits because another process writes to the store, once for each such process. Default: nothing.
    fn on_wait(&self, _holder: &LockHolder) {}
}

/// How far a build has come. How many documents are to come is known to the caller at best: they are read as a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildProgress {
    /// What is being done.
    pub stage: BuildStage,
    /// Documents chunked and embedded, those of an interrupted build included.
    pub documents: usize,
    /// Chunks that they were cut into.
    pub chunks: usize,
    /// Bytes of their text read by this build.
    pub bytes: u64,
}

/// The stages of a build, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildStage {
    /// Documents are read, chunked, embedded and written.
    Loading,
    /// Small pieces that many commits left are joined.
    Compacting,
    /// The full-text index is built.
    FullText,
}

/// Watches nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl BuildObserver for Unobserved {
    fn on_progress(&self, _progress: BuildProgress) {}
}
