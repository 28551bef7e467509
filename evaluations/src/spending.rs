//! What calls of models cost while they are made, for a budget that ends the run.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use evals::StopSignal;
use evals_models::{
    ChatError, ChatModel, ChatReply, ChatRequest, EmbedError, Embedder, Embeddings, ModelIdentity,
    TextKind, Usage,
};
use evals_rag::prices::Price;
use serde_json::{Map, Value};

/// Adds up what a run pays. Replies from the cache are paid for already.
#[derive(Debug)]
pub(crate) struct Spending {
    paid: Mutex<f64>,
    calls: AtomicU64,
    budget: Option<f64>,
    stop: StopSignal,
}

impl Spending {
    /// Sets `stop` as soon as `budget` USD are spent.
    pub(crate) fn new(budget: Option<f64>, stop: StopSignal) -> Arc<Self> {
        Arc::new(Self {
            paid: Mutex::new(0.0),
            calls: AtomicU64::new(0),
            budget,
            stop,
        })
    }

    /// Counts what earlier sessions of the same run have spent.
    pub(crate) fn resume(&self, cost: f64) {
        self.add(cost);
    }

    /// Calls that were paid for, or would have been if they had a price.
    pub(crate) fn calls(&self) -> u64 {
        self.calls.load(Ordering::Relaxed)
    }

    /// Whether the budget ended the run.
    pub(crate) fn is_spent(&self) -> bool {
        let paid = *lock(&self.paid);
        self.budget.is_some_and(|budget| paid >= budget)
    }

    fn add(&self, cost: f64) {
        let mut paid = lock(&self.paid);
        *paid += cost;
        if let Some(budget) = self.budget
            && *paid >= budget
        {
            self.stop.stop(format!(
                "the budget of ${budget} is spent, earlier sessions of the run included; the same command with a larger one goes on"
            ));
        }
    }
}

/// A model whose calls are added up.
#[derive(Debug)]
pub(crate) struct Metered {
    inner: Arc<dyn ChatModel>,
    price: Price,
    spending: Arc<Spending>,
}

impl Metered {
    /// Counts the calls of `inner`, which has to be behind any cache that does not ask it.
    pub(crate) fn new(inner: Arc<dyn ChatModel>, price: Price, spending: &Arc<Spending>) -> Self {
        Self {
            inner,
            price,
            spending: Arc::clone(spending),
        }
    }
}

#[async_trait]
impl ChatModel for Metered {
    fn identity(&self) -> &ModelIdentity {
        self.inner.identity()
    }

    fn parameters(&self) -> Map<String, Value> {
        self.inner.parameters()
    }

    fn notes(&self) -> Vec<String> {
        self.inner.notes()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reply = self.inner.chat(request).await?;
        self.spending.calls.fetch_add(1, Ordering::Relaxed);
        if let Some(cost) = self.price.cost(reply.usage) {
            self.spending.add(cost);
        }
        Ok(reply)
    }
}

/// An embedding model whose tokens are added up.
#[derive(Debug)]
pub(crate) struct MeteredEmbedder {
    inner: Arc<dyn Embedder>,
    price: Price,
    spending: Arc<Spending>,
    /// Tokens that are added up already.
    counted: AtomicU64,
}

impl MeteredEmbedder {
    /// Counts what `inner` reads from now on, which has to be behind any store that does not ask it.
    pub(crate) fn new(inner: Arc<dyn Embedder>, price: Price, spending: &Arc<Spending>) -> Self {
        Self {
            counted: AtomicU64::new(inner.input_tokens().unwrap_or_default()),
            inner,
            price,
            spending: Arc::clone(spending),
        }
    }

    fn count(&self) {
        let read = self.inner.input_tokens().unwrap_or_default();
        let before = self.counted.fetch_max(read, Ordering::Relaxed);
        let usage = Usage {
            input_tokens: read.saturating_sub(before),
            ..Usage::default()
        };
        if let Some(cost) = self.price.cost(usage) {
            self.spending.add(cost);
        }
    }
}

#[async_trait]
impl Embedder for MeteredEmbedder {
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
        let embedded = self.inner.embed(texts, kind).await;
        // Of a call that failed some batches may have been paid for.
        self.count();
        embedded
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_spent_budget_stops_and_says_so_once() {
        let stop = StopSignal::new();
        let spending = Spending::new(Some(1.0), stop.clone());
        spending.add(0.75);
        assert_eq!(stop.reason(), None);
        spending.add(0.25);
        let reason = stop.reason().unwrap();
        assert!(reason.starts_with("the budget of $1 is spent"), "{reason}");
    }
}
