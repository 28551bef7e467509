//! Stored scores of rerankers, which other commands use again: little-endian 32-bit floats.

#[cfg(test)]
mod tests;

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use evals_models::{Failure, ModelIdentity, RerankError, Reranked, Reranker, Usage};
use futures::future::join_all;
use rusqlite::types::Value;
use serde_json::json;
use sha2::{Digest, Sha256};
use thiserror::Error;

use crate::store::{
    Cache, EntryKey, Keyed, RefreshPolicy, Store, StoreTable, StoredEntry, distinct,
};

/// Stored scores of rerankers.
pub type ScoreStore = Store<StoredScore>;

/// The score of one text for one query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StoredScore {
    /// The score, to the last bit.
    pub score: f32,
    /// How long the model took for it. If it scored several texts in one call, an equal share of the time of the call.
    pub took: Duration,
    /// Tokens read for it, if the model reports them. The shares of a call add up to its total.
    pub input_tokens: Option<u64>,
}

impl StoredEntry for StoredScore {
    const TABLE: &'static StoreTable = &StoreTable {
        // `EvSc`.
        application: 0x4576_5363,
        format: 1,
        name: "scores",
        columns: &[
            ("nanoseconds", "INTEGER NOT NULL"),
            ("input_tokens", "INTEGER"),
            ("score", "BLOB NOT NULL"),
        ],
        added: &[],
        content: "score",
    };

    fn to_columns(&self) -> rusqlite::Result<Vec<Value>> {
        let tokens = self.input_tokens;
        let tokens = tokens.map(|tokens| i64::try_from(tokens).unwrap_or(i64::MAX));
        let nanoseconds = i64::try_from(self.took.as_nanos()).unwrap_or(i64::MAX);
        let score = self.score.to_le_bytes().to_vec();
        Ok(vec![nanoseconds.into(), tokens.into(), score.into()])
    }

    fn from_columns(columns: Vec<Value>) -> Option<Self> {
        let [Value::Integer(nanoseconds), tokens, Value::Blob(score)] = columns.as_slice() else {
            return None;
        };
        Some(Self {
            score: f32::from_le_bytes(score.as_slice().try_into().ok()?),
            took: Duration::from_nanos(nanoseconds.unsigned_abs()),
            input_tokens: match tokens {
                Value::Integer(tokens) => Some(tokens.unsigned_abs()),
                _ => None,
            },
        })
    }
}

/// The key of a reranker: SHA-256 of its identity and its place, as JSON with sorted names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankerKey(EntryKey);

impl RankerKey {
    /// The key of a reranker.
    ///
    /// `place` is the address of a server and everything else that it is sent, for models without a digest of their weights:
    /// equal names at two servers need not be equal models. `None` means that the identity is enough.
    pub fn new(identity: &ModelIdentity, place: Option<&str>) -> Self {
        let value = json!({
            "digest": identity.digest,
            "name": identity.name,
            "place": place,
            "provider": identity.provider,
        });
        Self(EntryKey::of(value.to_string()))
    }

    /// The key of a text's score for a query: SHA-256 of the reranker's key, the repetition `repeat` from 1, and the SHA-256 of query and
    /// of text.
    pub fn of(&self, query: &str, text: &str, repeat: u32) -> EntryKey {
        let key = Sha256::new()
            .chain_update(self.0.as_ref())
            .chain_update(repeat.to_le_bytes())
            .chain_update(Sha256::digest(query))
            .chain_update(Sha256::digest(text));
        EntryKey::finish(key)
    }
}

/// A reranker whose scores are stored, so that a text is scored for a query, and paid for, once.
///
/// The model scores the texts that are not stored, each once, in batches at the same time. The scores of a batch are stored before
/// they are used, even if other batches fail. The score of a text must not depend on the texts around it.
#[derive(Debug)]
pub struct CachedReranker {
    inner: Arc<dyn Reranker>,
    cache: Cache<StoredScore>,
    key: RankerKey,
    batch: usize,
    policy: RefreshPolicy,
}

/// The reranker did not return one score for each text.
#[derive(Debug, Error)]
#[error("the reranker returned {scores} scores for {texts} texts")]
struct CountError {
    scores: usize,
    texts: usize,
}

impl CachedReranker {
    /// Puts a store in front of a reranker.
    pub fn new(inner: Arc<dyn Reranker>, store: ScoreStore) -> Self {
        Self {
            key: RankerKey::new(inner.identity(), None),
            cache: Cache::new(store, inner.identity().to_string()),
            inner,
            batch: usize::MAX,
            policy: RefreshPolicy::default(),
        }
    }

    /// Stores the scores of a model at `place` apart from those of models of the same name elsewhere. It is for servers that do
    /// not report a digest of the weights. `place` also names everything that is sent besides the texts.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        Self {
            key: RankerKey::new(self.inner.identity(), Some(place)),
            ..self
        }
    }

    /// Sets the label of the model in the statistics of the store. Default: `provider:name`.
    #[must_use]
    pub fn labelled(mut self, label: impl Into<String>) -> Self {
        self.cache.label = label.into();
        self
    }

    /// Sets how many texts a call has at most. Default: all of a query.
    #[must_use]
    pub fn in_batches(self, texts: NonZeroUsize) -> Self {
        Self {
            batch: texts.get(),
            ..self
        }
    }

    /// Sets whether stored scores are used.
    #[must_use]
    pub fn with_policy(self, policy: RefreshPolicy) -> Self {
        Self { policy, ..self }
    }

    /// Scores the texts of a batch and stores the scores.
    async fn ask(
        &self,
        query: &str,
        batch: &[Keyed<'_>],
        repeat: u32,
    ) -> Result<(Vec<(EntryKey, StoredScore)>, Reranked), RerankError> {
        let writable = self.cache.check();
        writable.map_err(|error| self.terminal(batch.len(), error))?;
        let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
        let returned = self.inner.rerank(query, &texts, repeat).await?;
        if returned.scores.len() != texts.len() {
            let (scores, texts) = (returned.scores.len(), texts.len());
            return Err(self.terminal(texts, CountError { scores, texts }));
        }
        let shares = (0..)
            .zip(&returned.scores)
            .map(|(place, score)| StoredScore {
                score: *score,
                took: returned.service_time / u32::try_from(texts.len()).unwrap_or(u32::MAX).max(1),
                input_tokens: returned
                    .usage
                    .map(|usage| share(usage.input_tokens, place, texts.len() as u64)),
            });
        let keys = batch.iter().map(|(key, _)| *key);
        let scores: Vec<_> = keys.zip(shares).collect();
        self.cache
            .keep(&scores, |score| score.score.is_finite())
            .await;
        Ok((scores, returned))
    }

    fn terminal(&self, texts: usize, source: impl Error + Send + Sync + 'static) -> RerankError {
        RerankError {
            model: self.identity().clone(),
            texts,
            failure: Failure::Terminal,
            source: Box::new(source),
        }
    }
}

/// The share of one of `parts` in a whole number, such that all shares add up to it.
fn share(whole: u64, place: u64, parts: u64) -> u64 {
    whole / parts + u64::from(place < whole % parts)
}

#[async_trait]
impl Reranker for CachedReranker {
    fn identity(&self) -> &ModelIdentity {
        self.inner.identity()
    }

    /// The notes of the model, about the pairs that it scored, and one if scores could not be stored.
    fn notes(&self) -> Vec<String> {
        let unstored = self.cache.failure().map(|error| {
            format!("scores could not be stored, so the next run computes them again: {error}")
        });
        self.inner.notes().into_iter().chain(unstored).collect()
    }

    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        repeat: u32,
    ) -> Result<Reranked, RerankError> {
        let keyed = texts
            .iter()
            .map(|text| (self.key.of(query, text, repeat), *text));
        let keyed: Vec<Keyed<'_>> = keyed.collect();
        let mut missing = distinct(&keyed);
        let stored = self.cache.look_up(self.policy, &missing).await;
        let mut scores = stored.map_err(|error| self.terminal(missing.len(), error))?;
        missing.retain(|(key, _)| !scores.contains_key(key));
        let mut service_time: Duration = scores.values().map(|score| score.took).sum();
        let stored = scores.values().map(|score| score.input_tokens);
        let mut tokens = stored.sum::<Option<u64>>();
        let batches = missing.chunks(self.batch);
        // Waits for all batches even if one fails, so that the scores of the others are stored.
        let asked = join_all(batches.map(|batch| self.ask(query, batch, repeat))).await;
        for batch in asked {
            let (computed, returned) = batch?;
            service_time += returned.service_time;
            let read = returned.usage.map(|usage| usage.input_tokens);
            tokens = tokens.zip(read).map(|(sum, read)| sum.saturating_add(read));
            scores.extend(computed);
        }
        Ok(Reranked {
            scores: keyed.iter().map(|(key, _)| scores[key].score).collect(),
            usage: tokens
                .filter(|_| !keyed.is_empty())
                .map(|input_tokens| Usage {
                    input_tokens,
                    ..Usage::default()
                }),
            service_time,
            cached: !keyed.is_empty() && missing.is_empty(),
        })
    }
}
