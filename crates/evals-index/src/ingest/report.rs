//! The report of a finished build.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The counts of a build and the times of its stages.
///
/// Reading, chunking, embedding and writing run at the same time, chunking and embedding even in several tasks. Their durations are
/// sums over all tasks, so that together they exceed [`wall`](Self::wall).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildReport {
    /// Documents indexed by this build.
    pub documents: usize,
    /// Chunks of these documents.
    pub chunks: usize,
    /// Bytes of their text.
    pub bytes: u64,
    /// Vectors that came from a vector store instead of the model; [`embed`](Self::embed) does not contain the model's time for them.
    #[serde(default)]
    pub stored_vectors: usize,
    /// Documents that an interrupted build had committed.
    pub resumed_documents: usize,
    /// Time spent waiting for the iterator of documents.
    pub read: Duration,
    /// Time spent splitting documents into chunks.
    pub chunk: Duration,
    /// Time spent waiting for the embedder.
    pub embed: Duration,
    /// Time spent writing and committing rows.
    pub write: Duration,
    /// Time spent joining small fragments and building the full-text index.
    pub full_text: Duration,
    /// Time from start to end.
    pub wall: Duration,
}

impl BuildReport {
    /// Documents per second of wall time; `None` if nothing was indexed.
    pub fn documents_per_second(&self) -> Option<f64> {
        let seconds = self.wall.as_secs_f64();
        #[expect(
            clippy::cast_precision_loss,
            reason = "a rate needs no more than 52 bits"
        )]
        let rate = self.documents as f64 / seconds;
        (self.documents > 0 && seconds > 0.0).then_some(rate)
    }
}
