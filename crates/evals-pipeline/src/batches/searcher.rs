//! Limits the concurrent searches of cases that all run at the same time.

use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use async_trait::async_trait;
use evals_rag::{Retrieved, SearchError, Searcher};
use tokio::sync::Semaphore;

/// A searcher with a limit on concurrent searches. The wait for a turn does not count as the time of a search.
#[derive(Debug)]
struct Limited {
    inner: Arc<dyn Searcher>,
    turns: Semaphore,
    /// The searches that wait or run.
    under_way: Arc<AtomicUsize>,
}

/// Lets at most `most` searches run at the same time, and counts in `under_way` those that wait or run.
pub(crate) fn limited(
    inner: Arc<dyn Searcher>,
    most: NonZeroUsize,
    under_way: Arc<AtomicUsize>,
) -> Arc<dyn Searcher> {
    Arc::new(Limited {
        inner,
        turns: Semaphore::new(most.get()),
        under_way,
    })
}

#[async_trait]
impl Searcher for Limited {
    fn profile(&self) -> &str {
        self.inner.profile()
    }

    async fn search(&self, question: &str, k: usize) -> Result<Retrieved, SearchError> {
        self.search_again(question, k, 1).await
    }

    async fn search_again(
        &self,
        question: &str,
        k: usize,
        repeat: u32,
    ) -> Result<Retrieved, SearchError> {
        let _counted = Counted::of(&self.under_way);
        let began = Instant::now();
        // The semaphore is never closed.
        let turn = self.turns.acquire().await.map_err(SearchError::new)?;
        let waited = began.elapsed();
        let mut retrieved = self.inner.search_again(question, k, repeat).await?;
        drop(turn);
        retrieved.waited += waited;
        Ok(retrieved)
    }
}

/// Counts a search as long as it lives.
struct Counted<'c>(&'c AtomicUsize);

impl<'c> Counted<'c> {
    fn of(count: &'c AtomicUsize) -> Self {
        count.fetch_add(1, Ordering::Relaxed);
        Self(count)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}
