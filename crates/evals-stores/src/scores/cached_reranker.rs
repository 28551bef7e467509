//! A reranker with a store in front of it.

use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use thiserror::Error;

use super::{RankerKey, ScoreStore, StoredScore};
use crate::store::{Cache, EntryKey, Keyed, RefreshPolicy, distinct};
use evals_models::{Failure, ModelIdentity, RerankError, Reranked, Reranker, Usage};

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
