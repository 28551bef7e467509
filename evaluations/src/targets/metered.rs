//! Counts the cost of a target whose replies name their model and their tokens.

use std::sync::Arc;

use async_trait::async_trait;
use evals_models::ModelIdentity;
use evals_rag::prices::Prices;
use evals_targets::{Reply, Request, Target, TargetError, TargetIdentity};

use crate::spending::Spending;

/// A target whose requests are counted. A recording belongs in front of this, so that recorded replies are not counted.
#[derive(Debug)]
pub(crate) struct Metered {
    inner: Arc<dyn Target>,
    prices: Prices,
    spending: Arc<Spending>,
}

impl Metered {
    pub(crate) fn new(inner: Arc<dyn Target>, prices: Prices, spending: &Arc<Spending>) -> Self {
        Self {
            inner,
            prices,
            spending: Arc::clone(spending),
        }
    }
}

/// The provider of everything that a target says about itself.
const PROVIDER: &str = "target";

/// A target in the place of an answering model, or the model that its replies name, as prices and reports name them.
pub(crate) fn model(name: impl Into<String>) -> ModelIdentity {
    ModelIdentity::new(PROVIDER, name)
}

/// Whether a model is a target.
pub(crate) fn is_target(model: &ModelIdentity) -> bool {
    model.provider == PROVIDER
}

#[async_trait]
impl Target for Metered {
    fn identity(&self) -> &TargetIdentity {
        self.inner.identity()
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        let reply = self.inner.ask(request).await?;
        let used = reply.model.as_deref().zip(reply.usage);
        let cost = used.and_then(|(name, usage)| self.prices.of(&model(name)).cost(usage));
        self.spending.charge(cost);
        Ok(reply)
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
