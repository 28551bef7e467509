//! Counts the cost of a target whose replies name their model and their tokens.

use std::collections::BTreeSet;
use std::sync::Arc;

use async_trait::async_trait;
use evals_models::ModelIdentity;
use evals_rag::prices::Prices;
use evals_targets::{Payment, Reply, Request, Target, TargetError, TargetIdentity};

use crate::spending::Spending;

/// A target whose requests are counted. A recording belongs in front of this, so that recorded replies are not counted.
#[derive(Debug)]
struct Metered {
    inner: Arc<dyn Target>,
    prices: Prices,
    spending: Arc<Spending>,
}

impl Metered {
    fn new(inner: Arc<dyn Target>, prices: Prices, spending: &Arc<Spending>) -> Self {
        Self {
            inner,
            prices,
            spending: Arc::clone(spending),
        }
    }
}

/// The kind of targets that are chat models.
const CHAT: &str = "chat";

/// Counts the requests of a target, unless it is a chat model, whose calls are counted when it is opened, or a file, which costs nothing.
pub(crate) fn metered(
    target: Arc<dyn Target>,
    prices: Prices,
    spending: &Arc<Spending>,
) -> Arc<dyn Target> {
    match target.identity().kind.as_str() {
        CHAT => target,
        _ if target.identity().is_file() => target,
        _ => Arc::new(Metered::new(target, prices, spending)),
    }
}

/// The provider of everything that a target says about itself.
const PROVIDER: &str = "target";

/// A target in the place of an answering model, or the model that its replies name, as prices and reports name them.
pub fn model(name: impl Into<String>) -> ModelIdentity {
    ModelIdentity::new(PROVIDER, name)
}

/// The model whose price a reply has: a target that is a chat model, the target itself if it has a price, or else the model that the
/// reply names.
pub fn priced(target: &TargetIdentity, replied: Option<&str>, prices: &Prices) -> ModelIdentity {
    let name = target.to_string();
    match (target.name.split_once(':'), replied) {
        (Some((provider, name)), _) if target.kind == CHAT => ModelIdentity::new(provider, name),
        (_, Some(replied)) if !prices.0.contains_key(&name) => model(replied),
        _ => model(name),
    }
}

/// The prices, with that of a target that stands in the place of an answering model.
pub fn with_price(mut prices: Prices, target: &TargetIdentity, replied: Option<&str>) -> Prices {
    let price = prices.of(&priced(target, replied, &prices));
    prices.0.insert(target.to_string(), price);
    prices
}

/// Whether a model is a target.
pub fn is_target(model: &ModelIdentity) -> bool {
    model.provider == PROVIDER
}

#[async_trait]
impl Target for Metered {
    fn identity(&self) -> &TargetIdentity {
        self.inner.identity()
    }

    async fn ask(&self, request: &Request) -> Result<Reply, TargetError> {
        let reply = self.inner.ask(request).await?;
        let Some(usage) = reply.usage else {
            self.spending.count_call();
            return Ok(reply);
        };
        let model = priced(self.identity(), reply.model.as_deref(), &self.prices);
        let price = self.prices.of(&model);
        self.spending.charge(&Payment { model, usage }, price);
        Ok(reply)
    }

    fn warnings(&self, cases: &BTreeSet<&str>) -> Vec<String> {
        self.inner.warnings(cases)
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}

#[cfg(test)]
mod tests {
    use evals::StopSignal;

    use super::*;

    #[derive(Debug)]
    struct Silent(TargetIdentity);

    #[async_trait]
    impl Target for Silent {
        fn identity(&self) -> &TargetIdentity {
            &self.0
        }

        async fn ask(&self, _request: &Request) -> Result<Reply, TargetError> {
            Ok(Reply::default())
        }

        fn warnings(&self, cases: &BTreeSet<&str>) -> Vec<String> {
            vec![format!("{} cases", cases.len())]
        }
    }

    #[tokio::test]
    async fn a_service_is_counted_here_and_a_chat_model_or_a_file_is_not() {
        for (kind, calls) in [("http", 1), ("chat", 0), ("outputs", 0)] {
            let spending = Spending::new(None, StopSignal::new());
            let target = Arc::new(Silent(TargetIdentity::new(kind, "x")));
            let target = metered(target, Prices::default(), &spending);
            target.ask(&Request::question("q", "why?")).await.unwrap();
            assert_eq!(spending.calls(), calls, "{kind}");
            let warnings = target.warnings(&BTreeSet::from(["a", "b"]));
            assert_eq!(warnings, ["2 cases"], "{kind}");
        }
    }
}
