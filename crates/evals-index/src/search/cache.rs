use std::collections::HashMap;
use std::fmt;
use std::future::Future;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::OnceCell;

use super::leg::LegResult;

/// Results kept for other profiles. Beyond so many of each kind, further ones are computed and not kept.
const MOST_ENTRIES: usize = 100_000;

/// What the profiles of one index have in common: each question's embedding, and each search's result, computed once.
///
/// Two searches that need one result at the same time compute it once, too: the second waits for the first.
#[derive(Default)]
pub(crate) struct Cache {
    pub(super) embeddings: Entries<String, Embedded>,
    pub(super) legs: Entries<LegKey, LegResult>,
}

/// A question's embedding.
#[derive(Debug)]
pub(super) struct Embedded {
    pub(super) vector: Vec<f32>,
    pub(super) duration: Duration,
}

/// All that the result of one search depends on.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct LegKey {
    pub(super) leg: &'static str,
    pub(super) question: String,
    pub(super) filter: Option<String>,
    pub(super) depth: usize,
}

/// Values by key, each computed at most once.
pub(super) struct Entries<K, V>(Mutex<HashMap<K, Arc<OnceCell<Arc<V>>>>>);

/// A value, and whether it was there already.
#[derive(Debug, Clone)]
pub(super) struct Cached<V> {
    pub(super) value: Arc<V>,
    pub(super) hit: bool,
}

impl<K, V> Default for Entries<K, V> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash, V> Entries<K, V> {
    /// The value of `key`, from `compute` unless it is there. A failure is not kept.
    pub(super) async fn get<E>(
        &self,
        key: K,
        compute: impl Future<Output = Result<V, E>>,
    ) -> Result<Cached<V>, E> {
        let mut hit = true;
        let value = self
            .entry(key)
            .get_or_try_init(async || {
                hit = false;
                compute.await.map(Arc::new)
            })
            .await?
            .clone();
        Ok(Cached { value, hit })
    }

    fn entry(&self, key: K) -> Arc<OnceCell<Arc<V>>> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= MOST_ENTRIES {
            return entries.get(&key).cloned().unwrap_or_default();
        }
        Arc::clone(entries.entry(key).or_default())
    }

    fn len(&self) -> usize {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).len()
    }
}

impl fmt::Debug for Cache {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Cache")
            .field("embeddings", &self.embeddings.len())
            .field("legs", &self.legs.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn computes_once_and_keeps_no_failure() {
        let entries = Entries::<&str, u32>::default();
        let failed: Result<_, &str> = entries.get("a", async { Err("down") }).await;
        assert_eq!(failed.unwrap_err(), "down");
        let first = entries.get("a", async { Ok::<_, &str>(1) }).await.unwrap();
        let second = entries.get("a", async { Ok::<_, &str>(2) }).await.unwrap();
        assert_eq!((*first.value, first.hit), (1, false));
        assert_eq!((*second.value, second.hit), (1, true));
    }
}
