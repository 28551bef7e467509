//! The prices of calls in batches.

use std::fmt::Write as _;

use evals_models::ModelIdentity;
use evals_rag::prices::{Price, Prices};
use evals_targets::TargetAddress;

use crate::models::{ConfiguredModel, ConfiguredModels, ModelKind};
use crate::settings::{QaMode, Resolved};

/// The prices of a run. If it uses batches, they are lower for every model that is not asked directly.
pub(crate) fn discounted(resolved: &Resolved, full: Prices) -> Prices {
    let batch = &resolved.settings.batch;
    if !batch.enabled {
        return full;
    }
    let share = 1.0 - batch.discount;
    let lower = |price: &Price| Price {
        input: price.input.map(|price| price * share),
        output: price.output.map(|price| price * share),
    };
    let mut prices = Prices(
        full.0
            .iter()
            .map(|(model, price)| (model.clone(), lower(price)))
            .collect(),
    );
    for model in direct(resolved) {
        let price = full.of(&model);
        if price != Price::default() {
            prices.0.insert(model.to_string(), price);
        }
    }
    prices
}

/// The models of the settings that are asked directly in any case.
fn direct(resolved: &Resolved) -> Vec<ModelIdentity> {
    let models = ConfiguredModels::of(&resolved.settings);
    let is_agent = resolved.settings.qa.mode == QaMode::Agent;
    let in_batches = |kind| kind == ModelKind::OpenAi;
    let mut direct = vec![models.embedder.identity()];
    direct.extend(models.reranker.iter().map(ConfiguredModel::identity));
    if is_agent || !in_batches(models.answerer.kind) {
        direct.push(models.answerer.identity());
    }
    if !in_batches(models.judge.kind) {
        direct.push(models.judge.identity());
    }
    let target = resolved.settings.target.as_ref();
    if let Some(TargetAddress::Chat { provider, name }) =
        target.and_then(|target| target.address.as_ref())
    {
        direct.push(ModelIdentity::new(provider, name));
    }
    direct
}

/// The sentence of an estimate about the prices of batches; empty without batches.
pub(crate) fn note(resolved: &Resolved) -> String {
    let batch = &resolved.settings.batch;
    let mut text = String::new();
    if batch.enabled {
        let off = percent(batch.discount);
        writeln!(
            text,
            "Calls in batches are priced at {off} off (`batch.discount`). The first call of each model is direct, at the full price."
        )
        .expect("a string takes any text");
    }
    text
}

/// A share as a percentage, such as `50 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{} %", (share * 1_000.0).round() / 10.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::choices;
    use crate::settings::{Layer, resolve};

    #[test]
    fn only_models_in_batches_get_the_discount() {
        let prices = |set: &[&str]| {
            let models = [
                "qa.model=openai:a",
                "evaluations.judge=openai:j",
                "embeddings.model=openai:e",
                "prices={a: {input: 1, output: 2}, j: {input: 4, output: 8}, e: {input: 6, output: 0}}",
            ];
            let set: Vec<String> = [&models[..], set]
                .concat()
                .iter()
                .map(ToString::to_string)
                .collect();
            let layers = Layer::assignments(&set).unwrap().into_iter().collect();
            let prices = choices::prices(&resolve(layers).unwrap());
            ["a", "j", "e"].map(|name| prices.of(&ModelIdentity::new("openai", name)).input)
        };
        assert_eq!(prices(&[]), [1.0, 4.0, 6.0].map(Some));
        assert_eq!(prices(&["batch.enabled=true"]), [0.5, 2.0, 6.0].map(Some));
        let other = ["batch.enabled=true", "batch.discount=0.25", "qa.mode=agent"];
        assert_eq!(prices(&other), [1.0, 3.0, 6.0].map(Some));
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!([0.5, 0.125, 1.0].map(percent), ["50 %", "12.5 %", "100 %"]);
    }
}
