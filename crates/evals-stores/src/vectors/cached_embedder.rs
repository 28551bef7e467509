//! An embedding model with a store in front of it.

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use futures::future::join_all;

use super::{EmbeddingStore, ModelKey, StoredVector};
use crate::store::{Cache, EntryKey, Keyed, RefreshPolicy, distinct};
use evals_models::{
    EmbedError, Embedder, Embeddings, Failure, ModelIdentity, RowOrigin, ShapeError, TextKind,
    check_direction,
};

/// An embedding model whose vectors are stored, so that a text is computed, and paid for, once.
///
/// The model embeds the texts that are not stored: each once, in their order, in its own [batches](Embedder::batches). The vectors
/// of a batch are stored in one transaction before they are used, even if other batches fail. The returned matrix reports how many
/// of its rows [were stored](Embeddings::stored) and how long [the model took](Embeddings::took). Calls at the same time do not wait
/// for each other: if two of them have the same new text, both embed it.
#[derive(Debug)]
pub struct CachedEmbedder {
    inner: Arc<dyn Embedder>,
    cache: Cache<StoredVector>,
    model: ModelKey,
    documents: RefreshPolicy,
    queries: RefreshPolicy,
}

/// Vectors that the model computed, and how long it took for all of them.
type Computed = (Vec<(EntryKey, StoredVector)>, Duration);

impl CachedEmbedder {
    /// Puts a store in front of a model.
    pub fn new(inner: Arc<dyn Embedder>, store: EmbeddingStore) -> Self {
        Self {
            model: ModelKey::new(inner.identity(), inner.dimension(), None),
            cache: Cache::new(store, inner.identity().to_string()),
            inner,
            documents: RefreshPolicy::default(),
            queries: RefreshPolicy::default(),
        }
    }

    /// Stores the vectors of a model at `place` apart from those of models of the same name elsewhere. It is for servers that do
    /// not report a digest of the weights.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        let (identity, dimension) = (self.inner.identity(), self.inner.dimension());
        Self {
            model: ModelKey::new(identity, dimension, Some(place)),
            ..self
        }
    }

    /// Sets the label of the model in the statistics of the store. Default: `provider:name`.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.cache.label = label.into();
        self
    }

    /// Sets whether stored vectors are used, for documents and for queries.
    #[must_use]
    pub fn with_policy(self, policy: RefreshPolicy) -> Self {
        Self {
            documents: policy,
            queries: policy,
            ..self
        }
    }

    /// Sets whether stored vectors of queries are used. Runs that measure the latency of queries repeatedly do not use them.
    #[must_use]
    pub fn with_query_policy(self, queries: RefreshPolicy) -> Self {
        Self { queries, ..self }
    }

    /// Embeds the texts of a batch and stores their vectors.
    async fn ask(&self, missing: &[Keyed<'_>], kind: TextKind) -> Result<Computed, EmbedError> {
        let writable = self.cache.check();
        writable.map_err(|error| self.terminal(missing.len(), error))?;
        let texts: Vec<&str> = missing.iter().map(|(_, text)| *text).collect();
        let started = Instant::now();
        let embeddings = self.inner.embed(&texts, kind).await?;
        let took = embeddings.took().unwrap_or_else(|| started.elapsed());
        self.check(&embeddings, texts.len())?;
        let rows = (0..).zip(embeddings.rows());
        let rows = rows.map(|(number, row)| StoredVector {
            values: row.to_vec(),
            took: share(took, texts.len()),
            cut: embeddings.is_cut(number),
        });
        let keys = missing.iter().map(|(key, _)| *key);
        let vectors: Vec<_> = keys.zip(rows).collect();
        self.cache.keep(&vectors, is_sound).await;
        Ok((vectors, took))
    }

    fn check(&self, embeddings: &Embeddings, texts: usize) -> Result<(), EmbedError> {
        if embeddings.len() != texts {
            return Err(EmbedError::Count {
                model: self.identity().clone(),
                texts,
                vectors: embeddings.len(),
            });
        }
        if embeddings.dimension() != self.dimension() {
            return Err(EmbedError::Shape(ShapeError {
                values: embeddings.dimension(),
                dimension: self.dimension(),
            }));
        }
        Ok(())
    }

    fn terminal(&self, texts: usize, source: impl Error + Send + Sync + 'static) -> EmbedError {
        EmbedError::Model {
            model: self.identity().clone(),
            texts,
            failure: Failure::Terminal,
            source: Box::new(source),
        }
    }
}

/// The share of one text in the time that several took together.
fn share(together: Duration, texts: usize) -> Duration {
    together / u32::try_from(texts).unwrap_or(u32::MAX).max(1)
}

/// Whether a vector can be compared with others.
fn is_sound(vector: &StoredVector) -> bool {
    check_direction(&vector.values).is_ok()
}

#[async_trait]
impl Embedder for CachedEmbedder {
    fn identity(&self) -> &ModelIdentity {
        self.inner.identity()
    }

    fn dimension(&self) -> usize {
        self.inner.dimension()
    }

    fn max_tokens(&self) -> Option<usize> {
        self.inner.max_tokens()
    }

    /// Tokens of the texts that the model embedded; stored texts are not counted.
    fn input_tokens(&self) -> Option<u64> {
        self.inner.input_tokens()
    }

    fn batches(&self, texts: &[&str]) -> Vec<Range<usize>> {
        self.inner.batches(texts)
    }

    /// The notes of the model, about the texts that it embedded.
    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        let keyed = texts.iter().map(|text| (self.model.of(text, kind), *text));
        let keyed: Vec<Keyed<'_>> = keyed.collect();
        let policy = match kind {
            TextKind::Document => self.documents,
            TextKind::Query => self.queries,
        };
        let mut missing = distinct(&keyed);
        let stored = self.cache.look_up(policy, &missing).await;
        let mut vectors = stored.map_err(|error| self.terminal(texts.len(), error))?;
        // The digest does not cover the dimension. A vector without a direction could not be compared.
        vectors.retain(|_, vector| vector.values.len() == self.dimension() && is_sound(vector));
        missing.retain(|(key, _)| !vectors.contains_key(key));
        let mut origin = RowOrigin {
            stored: keyed
                .iter()
                .filter(|(key, _)| vectors.contains_key(key))
                .count(),
            took: vectors.values().map(|vector| vector.took).sum(),
        };
        if !missing.is_empty() {
            let texts: Vec<&str> = missing.iter().map(|(_, text)| *text).collect();
            let batches = self.inner.batches(&texts).into_iter();
            // Waits for all batches even if one fails, so that the vectors of the others are stored.
            let asked = batches.map(|batch| self.ask(&missing[batch], kind));
            for computed in join_all(asked).await {
                let (computed, took) = computed?;
                origin.took += took;
                vectors.extend(computed);
            }
        }
        let mut values = Vec::with_capacity(texts.len() * self.dimension());
        for (key, _) in &keyed {
            values.extend_from_slice(&vectors[key].values);
        }
        let cut = keyed.iter().map(|(key, _)| vectors[key].cut).collect();
        let embeddings = Embeddings::new(self.dimension(), values)?;
        Ok(embeddings.with_cut(cut).with_origin(origin))
    }
}
