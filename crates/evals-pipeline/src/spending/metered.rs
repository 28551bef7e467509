//! Models whose calls are counted.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use async_trait::async_trait;
use evals_models::{
    ChatError, ChatModel, ChatReply, ChatRequest, EmbedError, Embedder, Embeddings, Failure,
    ModelIdentity, TextKind, Usage,
};
use evals_rag::prices::Price;
use evals_targets::Payment;
use serde_json::{Map, Value};

use super::Spending;

const EMBEDDING: &str =
    "all documents are embedded; run the command again with a larger `--budget` to resume";
const CHAT: &str =
    "everything is asked; replies are stored, so that the same command goes on from here";

/// A chat model whose calls are counted.
#[derive(Debug)]
pub(crate) struct Metered {
    inner: Arc<dyn ChatModel>,
    price: Price,
    spending: Arc<Spending>,
    stops_at_budget: bool,
}

impl Metered {
    /// Counts the calls of `inner`. A cache belongs in front of this, so that cached replies are not counted.
    pub(crate) fn new(inner: Arc<dyn ChatModel>, price: Price, spending: &Arc<Spending>) -> Self {
        Self {
            inner,
            price,
            spending: Arc::clone(spending),
            stops_at_budget: false,
        }
    }

    /// Refuses calls once the budget is spent. In a run a case that was started is finished; work without cases ends here.
    pub(crate) fn stopping_at_budget(self, stops_at_budget: bool) -> Self {
        Self {
            stops_at_budget,
            ..self
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
        if self.stops_at_budget
            && let Some(spent) = self.spending.spent(CHAT)
        {
            return Err(ChatError {
                model: self.identity().clone(),
                failure: Failure::Terminal,
                source: Box::new(spent),
            });
        }
        let reply = self.inner.chat(request).await?;
        let payment = Payment {
            model: self.inner.identity().clone(),
            usage: reply.usage,
        };
        self.spending.charge(&payment, self.price);
        Ok(reply)
    }
}

/// An embedding model whose tokens are counted.
#[derive(Debug)]
pub(crate) struct MeteredEmbedder {
    inner: Arc<dyn Embedder>,
    price: Price,
    spending: Arc<Spending>,
    /// The tokens counted so far.
    counted: AtomicU64,
    /// Whether tokens were estimated, because the server did not report them.
    is_estimated: AtomicBool,
}

impl MeteredEmbedder {
    /// Counts the tokens that `inner` reads from now on. A cache belongs in front of this, so that cached vectors are not counted.
    pub(crate) fn new(inner: Arc<dyn Embedder>, price: Price, spending: &Arc<Spending>) -> Self {
        Self {
            counted: AtomicU64::new(inner.input_tokens().unwrap_or_default()),
            inner,
            price,
            spending: Arc::clone(spending),
            is_estimated: AtomicBool::new(false),
        }
    }

    /// Counts the tokens of one call. Once a server has left out the tokens of a call, their sum is unknown and the tokens of each further
    /// call are estimated.
    fn count(&self, texts: &[&str], is_embedded: bool) {
        let input_tokens = match self.inner.input_tokens() {
            Some(read) => {
                let before = self.counted.fetch_max(read, Ordering::Relaxed);
                read.saturating_sub(before)
            }
            None if is_embedded => {
                self.is_estimated.store(true, Ordering::Relaxed);
                texts.iter().map(|text| estimate(text)).sum()
            }
            None => 0,
        };
        let usage = Usage {
            input_tokens,
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
        let mut notes = self.inner.notes();
        if self.spending.budget.is_some() && self.is_estimated.load(Ordering::Relaxed) {
            notes.push(
                "the server did not report the tokens of every text; `--budget` counts estimates for the others"
                    .to_owned(),
            );
        }
        notes
    }

    fn input_tokens(&self) -> Option<u64> {
        self.inner.input_tokens()
    }

    fn batches(&self, texts: &[&str]) -> Vec<Range<usize>> {
        self.inner.batches(texts)
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        // A question belongs to a case, and a case that was started is finished.
        if kind == TextKind::Document
            && let Some(spent) = self.spending.spent(EMBEDDING)
        {
            return Err(EmbedError::Model {
                model: self.identity().clone(),
                texts: texts.len(),
                failure: Failure::Terminal,
                source: Box::new(spent),
            });
        }
        let embedded = self.inner.embed(texts, kind).await;
        // Some batches of a failed call may have been paid for.
        self.count(texts, embedded.is_ok());
        embedded
    }
}

/// Estimates the tokens of a text: one for each four bytes.
fn estimate(text: &str) -> u64 {
    text.len().div_ceil(4) as u64
}

#[cfg(test)]
mod tests {
    use evals::StopSignal;
    use evals_local::StaticEmbedder;

    use super::super::BudgetSpent;
    use super::*;

    #[tokio::test]
    async fn a_spent_budget_embeds_no_further_documents_even_without_reported_tokens() {
        let spending = Spending::new(Some(1.0), StopSignal::new());
        // A dollar for each token.
        let price = Price {
            input: Some(1e6),
            ..Price::default()
        };
        let model = Arc::new(StaticEmbedder::static_minilm());
        let embedder = MeteredEmbedder::new(model, price, &spending);
        assert_eq!(embedder.input_tokens(), None);
        assert_eq!(embedder.notes(), [""; 0]);
        let embed = async |kind| embedder.embed(&["Paris is in France."], kind).await;
        embed(TextKind::Document).await.unwrap();
        assert!(spending.is_spent());
        let refused = anyhow::Error::from(embed(TextKind::Document).await.unwrap_err());
        assert!(
            refused
                .chain()
                .any(<dyn std::error::Error>::is::<BudgetSpent>)
        );
        let message = refused.root_cause().to_string();
        assert!(
            message.starts_with("the budget of $1 is spent before all"),
            "{message}"
        );
        embed(TextKind::Query).await.unwrap();
        let notes = embedder.notes();
        assert!(notes[0].contains("counts estimates"), "{notes:?}");
    }
}
