use std::collections::{HashMap, HashSet};
use std::error::Error;
use std::num::NonZeroUsize;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use async_trait::async_trait;
use futures::future::join_all;
use thiserror::Error;

use super::{RankerKey, ScoreKey, ScoreStore, StoredScore};
use crate::store::{RefreshPolicy, StoreError};
use evals_models::{Failure, ModelIdentity, RerankError, Reranked, Reranker, Usage};

/// A reranker whose scores are stored, so that the same text is read for the same question, and paid for, once.
///
/// The model is asked for what is not stored, each text once, in batches side by side. What a batch brings is stored before it is
/// used, whatever becomes of the others. A text's score must not depend on the texts around it.
#[derive(Debug)]
pub struct CachedReranker {
    inner: Arc<dyn Reranker>,
    store: ScoreStore,
    key: RankerKey,
    label: String,
    batch: usize,
    policy: RefreshPolicy,
    unwritable: OnceLock<Arc<StoreError>>,
}

/// Scores were computed and could not be stored.
#[derive(Debug, Error)]
#[error("scores cannot be stored any more, and would have to be computed again")]
struct Unwritable(#[source] Arc<StoreError>);

/// The reranker gave another number of scores than it was given texts.
#[derive(Debug, Error)]
#[error("{scores} scores came back for {texts} texts")]
struct CountError {
    scores: usize,
    texts: usize,
}

/// A text with the key of its score.
type Keyed<'t> = (ScoreKey, &'t str);

impl CachedReranker {
    /// A reranker in front of which a store serves what it can.
    pub fn new(inner: Arc<dyn Reranker>, store: ScoreStore) -> Self {
        Self {
            key: RankerKey::new(inner.identity(), None),
            label: inner.identity().to_string(),
            inner,
            store,
            batch: usize::MAX,
            policy: RefreshPolicy::default(),
            unwritable: OnceLock::new(),
        }
    }

    /// Keeps the scores of a model at `place` apart from those of equally named models elsewhere: for servers that do not tell a
    /// digest of the weights. What is sent besides the texts belongs to the place.
    #[must_use]
    pub fn at(self, place: &str) -> Self {
        Self {
            key: RankerKey::new(self.inner.identity(), Some(place)),
            ..self
        }
    }

    /// What statistics of the store call the model, instead of its provider and name.
    #[must_use]
    pub fn labelled(self, label: impl Into<String>) -> Self {
        let label = label.into();
        Self { label, ..self }
    }

    /// Asks for at most so many texts at once; default: all of a question.
    #[must_use]
    pub fn in_batches(self, texts: NonZeroUsize) -> Self {
        Self {
            batch: texts.get(),
            ..self
        }
    }

    /// Says whether stored scores are used.
    #[must_use]
    pub fn with_policy(self, policy: RefreshPolicy) -> Self {
        Self { policy, ..self }
    }

    /// The stored scores among those of some keys.
    async fn look_up(
        &self,
        keyed: &[Keyed<'_>],
    ) -> Result<HashMap<ScoreKey, StoredScore>, RerankError> {
        if self.policy == RefreshPolicy::Refresh {
            return Ok(HashMap::new());
        }
        let keys: Vec<ScoreKey> = keyed.iter().map(|(key, _)| *key).collect();
        let found = self.store.get(keys.clone()).await;
        let found = found.map_err(|error| self.terminal(keyed.len(), error))?;
        let found = keys.into_iter().zip(found);
        Ok(found
            .filter_map(|(key, score)| Some((key, score?)))
            .collect())
    }

    /// Asks the model for the scores of a batch and stores them.
    async fn ask(
        &self,
        query: &str,
        batch: &[Keyed<'_>],
        repeat: u32,
    ) -> Result<(Vec<(ScoreKey, StoredScore)>, Reranked), RerankError> {
        if let Some(error) = self.unwritable.get() {
            return Err(self.terminal(batch.len(), Unwritable(Arc::clone(error))));
        }
        let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
        let said = self.inner.rerank(query, &texts, repeat).await?;
        if said.scores.len() != texts.len() {
            let (scores, texts) = (said.scores.len(), texts.len());
            return Err(self.terminal(texts, CountError { scores, texts }));
        }
        let shares = (0..).zip(&said.scores).map(|(place, score)| StoredScore {
            score: *score,
            took: said.service_time / u32::try_from(texts.len()).unwrap_or(u32::MAX).max(1),
            input_tokens: said
                .usage
                .map(|usage| share(usage.input_tokens, place, texts.len() as u64)),
        });
        let keys = batch.iter().map(|(key, _)| *key);
        let scores: Vec<_> = keys.zip(shares).collect();
        self.keep(&scores).await;
        Ok((scores, said))
    }

    /// Stores scores.
    ///
    /// That they cannot be stored is no reason to throw away scores that were paid for, but one not to pay for others.
    async fn keep(&self, scores: &[(ScoreKey, StoredScore)]) {
        // One that cannot be compared is an error to whoever asked, and may be another the next time.
        let sound = scores.iter().filter(|(_, score)| score.score.is_finite());
        let sound: Vec<_> = sound.copied().collect();
        if let Err(error) = self.store.put(&self.label, sound).await {
            self.unwritable.get_or_init(|| Arc::new(error));
        }
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

/// The share of one of `parts` in a whole, such that all shares add up to it.
fn share(whole: u64, place: u64, parts: u64) -> u64 {
    whole / parts + u64::from(place < whole % parts)
}

#[async_trait]
impl Reranker for CachedReranker {
    fn identity(&self) -> &ModelIdentity {
        self.inner.identity()
    }

    /// Those of the pairs that the model was asked for, and that scores could not be stored.
    fn notes(&self) -> Vec<String> {
        let unstored = self.unwritable.get().map(|error| {
            format!("scores could not be stored, and are computed again when they are needed again: {error}")
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
        let mut seen = HashSet::new();
        let distinct = keyed.iter().filter(|(key, _)| seen.insert(*key)).copied();
        let distinct: Vec<Keyed<'_>> = distinct.collect();
        let mut scores = self.look_up(&distinct).await?;
        let mut service_time: Duration = scores.values().map(|score| score.took).sum();
        let stored = scores.values().map(|score| score.input_tokens);
        let mut tokens = stored.sum::<Option<u64>>();
        let is_missing = |(key, _): &Keyed<'_>| !scores.contains_key(key);
        let missing: Vec<Keyed<'_>> = distinct.iter().copied().filter(is_missing).collect();
        let batches = missing.chunks(self.batch);
        // To the end, even if one fails: what the others bring is stored.
        let asked = join_all(batches.map(|batch| self.ask(query, batch, repeat))).await;
        for batch in asked {
            let (computed, said) = batch?;
            service_time += said.service_time;
            let read = said.usage.map(|usage| usage.input_tokens);
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
