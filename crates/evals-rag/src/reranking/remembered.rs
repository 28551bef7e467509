//! A reranker that remembers its scores.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use evals_models::{ModelIdentity, RerankError, Reranked, Reranker};
use sha2::Digest as _;

use crate::shown::texts_hash;

/// Keeps a reranker's scores in memory, so the two benchmarks of a run ask the model only once.
///
/// The same question with the same texts, in the same repetition, is answered from memory and counts as
/// [cached](Reranked::cached). Failures are not kept. A store does the same across runs; this reranker serves runs without a
/// store, and runs that ignore stored scores.
#[derive(Debug)]
pub struct RememberedReranker {
    inner: Arc<dyn Reranker>,
    kept: Mutex<HashMap<[u8; 32], Reranked>>,
}

impl RememberedReranker {
    /// Keeps the scores of `inner`.
    pub fn new(inner: Arc<dyn Reranker>) -> Self {
        Self {
            inner,
            kept: Mutex::default(),
        }
    }
}

#[async_trait]
impl Reranker for RememberedReranker {
    fn identity(&self) -> &ModelIdentity {
        self.inner.identity()
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        repeat: u32,
    ) -> Result<Reranked, RerankError> {
        let key = key(query, texts, repeat);
        let kept = || self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let known = kept().get(&key).cloned();
        if let Some(known) = known {
            return Ok(Reranked {
                cached: true,
                ..known
            });
        }
        let reranked = self.inner.rerank(query, texts, repeat).await?;
        kept().insert(key, reranked.clone());
        Ok(reranked)
    }
}

/// The digest of the question, the texts and the repetition.
fn key(query: &str, texts: &[&str], repeat: u32) -> [u8; 32] {
    let hash = texts_hash(&[&[query], texts].concat());
    hash.chain_update(repeat.to_le_bytes()).finalize().into()
}
