use std::time::Duration;

use serde::{Deserialize, Serialize};

/// What a build did and how long its stages took.
///
/// Reading, chunking, embedding and writing run at the same time, chunking and embedding in several tasks: their durations are
/// time spent, summed over tasks, and together exceed [`wall`](Self::wall).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BuildReport {
    /// Documents indexed by this build.
    pub documents: usize,
    /// Chunks that they were cut into.
    pub chunks: usize,
    /// Bytes of their text.
    pub bytes: u64,
    /// Vectors that a store before the embedder had, so that [`embed`](Self::embed) is not what the model takes for all of them.
    #[serde(default)]
    pub stored_vectors: usize,
    /// Documents that an interrupted build had committed before.
    pub resumed_documents: usize,
    /// Waiting for the iterator of documents.
    pub read: Duration,
    /// Cutting documents into chunks.
    pub chunk: Duration,
    /// Waiting for the embedder.
    pub embed: Duration,
    /// Writing and committing rows.
    pub write: Duration,
    /// Joining small pieces and building the full-text index.
    pub full_text: Duration,
    /// From start to end.
    pub wall: Duration,
}

impl BuildReport {
    /// Documents per second of wall time; `None` where nothing was indexed.
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
