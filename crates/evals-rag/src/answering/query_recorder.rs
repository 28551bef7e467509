//! A record of the query vectors that a search computes, for the answerer that asks next.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use evals_models::{EmbedError, Embedder, Embeddings, ModelIdentity, TextKind};

/// Bytes of texts and vectors in a record.
const MOST_BYTES: usize = 8 << 20;

/// An embedder for the search, which records the vectors of its queries.
///
/// It computes every vector that it is asked for, so the search can time it. Only [`recorded`](Self::recorded) reads the record. A
/// full record takes no further vectors and evicts none: several profiles ask the same questions in the same order, so eviction would
/// always remove the vectors that are needed next.
#[derive(Debug)]
pub struct QueryRecorder {
    inner: Arc<dyn Embedder>,
    record: Mutex<RecordedQueries>,
    most_bytes: usize,
}

#[derive(Debug, Default)]
struct RecordedQueries {
    vectors: HashMap<String, Arc<[f32]>>,
    bytes: usize,
}

impl QueryRecorder {
    /// Records up to 8 MiB of the query vectors of `inner`.
    pub fn new(inner: Arc<dyn Embedder>) -> Self {
        Self {
            inner,
            record: Mutex::default(),
            most_bytes: MOST_BYTES,
        }
    }

    /// The vector of a query, if it was recorded and `embedder` would compute the same one.
    ///
    /// That takes equal identities with a digest, since models without one may differ despite equal names, and equal dimensions.
    pub fn recorded(&self, query: &str, embedder: &dyn Embedder) -> Option<Arc<[f32]>> {
        let identity = embedder.identity();
        let is_same = identity.digest.is_some()
            && identity == self.inner.identity()
            && embedder.dimension() == self.inner.dimension();
        if !is_same {
            return None;
        }
        self.record().vectors.get(query).cloned()
    }

    fn add(&self, query: &str, vector: &[f32]) {
        let mut record = self.record();
        let bytes = record.bytes + query.len() + size_of_val(vector);
        if bytes <= self.most_bytes && !record.vectors.contains_key(query) {
            record.bytes = bytes;
            record.vectors.insert(query.to_owned(), vector.into());
        }
    }

    fn record(&self) -> MutexGuard<'_, RecordedQueries> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[async_trait]
impl Embedder for QueryRecorder {
    fn identity(&self) -> &ModelIdentity {
        self.inner.identity()
    }

    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn max_tokens(&self) -> Option<usize> {
        self.inner.max_tokens()
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    fn input_tokens(&self) -> Option<u64> {
        self.inner.input_tokens()
    }

    fn batches(&self, texts: &[&str]) -> Vec<Range<usize>> {
        self.inner.batches(texts)
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        let embeddings = self.inner.embed(texts, kind).await?;
        if kind == TextKind::Query && embeddings.len() == texts.len() {
            for (text, vector) in texts.iter().zip(embeddings.rows()) {
                self.add(text, vector);
            }
        }
        Ok(embeddings)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::fakes::Letters;

    #[tokio::test]
    async fn computes_every_query_and_records_it() {
        let letters = Letters::with_digest("1");
        let recorder = QueryRecorder::new(letters.clone());
        for _ in 0..2 {
            recorder.embed(&["x"], TextKind::Query).await.unwrap();
        }
        assert_eq!(letters.queries(), ["x", "x"]);
        let vector = recorder.recorded("x", letters.as_ref()).unwrap();
        assert_eq!(*vector, [1.0, 0.0, 0.0, 0.0]);
        assert_eq!(recorder.recorded("y", letters.as_ref()), None);
    }

    #[tokio::test]
    async fn documents_are_not_recorded() {
        let letters = Letters::with_digest("1");
        let recorder = QueryRecorder::new(letters.clone());
        recorder.embed(&["x"], TextKind::Document).await.unwrap();
        assert_eq!(recorder.recorded("x", letters.as_ref()), None);
    }

    #[tokio::test]
    async fn another_model_gets_no_vector() {
        let recorder = QueryRecorder::new(Letters::with_digest("1"));
        recorder.embed(&["x"], TextKind::Query).await.unwrap();
        let same = Letters::with_digest("1");
        assert!(recorder.recorded("x", same.as_ref()).is_some());
        let other = Letters::with_digest("2");
        assert_eq!(recorder.recorded("x", other.as_ref()), None);
        let without_digest = Letters::new();
        assert_eq!(recorder.recorded("x", without_digest.as_ref()), None);
        let recorder = QueryRecorder::new(without_digest.clone());
        recorder.embed(&["x"], TextKind::Query).await.unwrap();
        assert_eq!(recorder.recorded("x", without_digest.as_ref()), None);
    }

    #[tokio::test]
    async fn a_full_record_takes_no_further_vectors() {
        let letters = Letters::with_digest("1");
        let mut recorder = QueryRecorder::new(letters.clone());
        recorder.most_bytes = 2 * (1 + 4 * size_of::<f32>());
        recorder
            .embed(&["x", "x", "y", "z"], TextKind::Query)
            .await
            .unwrap();
        let found = ["x", "y", "z"].map(|query| recorder.recorded(query, letters.as_ref()));
        assert_eq!(found.map(|vector| vector.is_some()), [true, true, false]);
    }
}
