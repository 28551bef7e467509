//! Stored vectors of embedding models, which other runs, chunkings and search profiles use again: their components one after another, as
//! little-endian 32-bit floats.

#[cfg(test)]
mod tests;

use std::error::Error;
use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use evals_models::{
    EmbedError, Embedder, Embeddings, Failure, ModelIdentity, RowOrigin, ShapeError, TextKind,
    check_direction,
};
use futures::future::join_all;
use rusqlite::types::Value;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::store::{
    Cache, EntryKey, Keyed, RefreshPolicy, Store, StoreTable, StoredEntry, distinct,
};

/// Stored vectors of embedding models.
pub type EmbeddingStore = Store<StoredVector>;

/// The vector of one text.
#[derive(Clone, Debug, PartialEq)]
pub struct StoredVector {
    /// Its components, to the last bit.
    pub values: Vec<f32>,
    /// How long the model took for it. If it embedded several texts in one call, an equal share of the time of the call.
    pub took: Duration,
    /// Whether the model truncated the text. `None` if the model does not report that, or if an earlier version stored the
    /// vector.
    pub cut: Option<bool>,
}

impl StoredEntry for StoredVector {
    const TABLE: &'static StoreTable = &StoreTable {
        // `EvVc`.
        application: 0x4576_5663,
        format: 1,
        name: "vectors",
        columns: &[
            ("nanoseconds", "INTEGER NOT NULL"),
            ("vector", "BLOB NOT NULL"),
        ],
        added: &[("cut", "INTEGER")],
        content: "vector",
    };

    fn to_columns(&self) -> rusqlite::Result<Vec<Value>> {
        let nanoseconds = i64::try_from(self.took.as_nanos()).unwrap_or(i64::MAX);
        let components = self.values.iter();
        let components: Vec<u8> = components.flat_map(|value| value.to_le_bytes()).collect();
        let cut = self.cut.map(i64::from);
        Ok(vec![nanoseconds.into(), components.into(), cut.into()])
    }

    fn from_columns(columns: Vec<Value>) -> Option<Self> {
        let [Value::Integer(nanoseconds), Value::Blob(components), cut] = columns.as_slice() else {
            return None;
        };
        let (components, rest) = components.as_chunks();
        let values = components.iter().map(|bytes| f32::from_le_bytes(*bytes));
        rest.is_empty().then(|| Self {
            values: values.collect(),
            took: Duration::from_nanos(nanoseconds.unsigned_abs()),
            cut: match cut {
                Value::Integer(cut) => Some(*cut != 0),
                _ => None,
            },
        })
    }
}

/// The key of a model and the length of its vectors: SHA-256 of both, as JSON with sorted names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ModelKey(EntryKey);

impl ModelKey {
    /// The key of a model.
    ///
    /// `place` is the address of a server, for models without a digest of their weights: equal names at two servers need not be
    /// equal models. `None` means that the identity is enough.
    pub fn new(identity: &ModelIdentity, dimension: usize, place: Option<&str>) -> Self {
        let value = json!({
            "digest": identity.digest,
            "dimension": dimension,
            "name": identity.name,
            "place": place,
            "provider": identity.provider,
        });
        Self(EntryKey::of(value.to_string()))
    }

    /// The key of a text's vector: SHA-256 of the model's key, the kind of the text (`d` or `q`) and the text's SHA-256.
    pub fn of(&self, text: &str, kind: TextKind) -> EntryKey {
        let kind = match kind {
            TextKind::Document => b"d",
            TextKind::Query => b"q",
        };
        let key = Sha256::new()
            .chain_update(self.0.as_ref())
            .chain_update(kind)
            .chain_update(Sha256::digest(text));
        EntryKey::finish(key)
    }
}

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
