//! The progress of a build, and who watches it.

use std::fmt::Debug;

use crate::lock_holder::LockHolder;

/// Watches a build.
pub trait BuildObserver: Debug + Send + Sync {
    /// Called after each portion of documents and at the start of each stage. It must return quickly, because the build waits for it.
    fn on_progress(&self, progress: BuildProgress);

    /// Called when a build waits for another process that writes to the store, once for each such process. Does nothing by default.
    fn on_wait(&self, _holder: &LockHolder) {}
}

/// The progress of a build. The total number of documents is unknown here, because they are a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BuildProgress {
    /// The current stage.
    pub stage: BuildStage,
    /// Documents chunked and embedded, including those of an interrupted build.
    pub documents: usize,
    /// Chunks of these documents.
    pub chunks: usize,
    /// Bytes of their text read by this build.
    pub bytes: u64,
}

/// The stages of a build, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BuildStage {
    /// Documents are read, chunked, embedded and written.
    Loading,
    /// Small fragments of many commits are joined.
    Compacting,
    /// The full-text index is built.
    FullText,
    /// The engine builds the index of the vectors, for an approximate search.
    Vectors,
}

/// An observer that does nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl BuildObserver for Unobserved {
    fn on_progress(&self, _progress: BuildProgress) {}
}
