//! The prices of calls in batches.

use std::fmt::Write as _;

use evals_rag::prices::{Price, Prices};
use evals_settings::Resolved;

/// The prices of a run. They are lower for the models whose calls go in batches. A target that names the same model keeps the full price.
pub(crate) fn discounted(resolved: &Resolved, mut prices: Prices) -> Prices {
    let share = 1.0 - resolved.settings.batch.discount;
    for model in &resolved.batched {
        let full = prices.of(model);
        if full != Price::default() {
            let lower = Price {
                input: full.input.map(|price| price * share),
                output: full.output.map(|price| price * share),
            };
            prices.0.insert(model.to_string(), lower);
        }
    }
    prices
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
    use evals_models::ModelIdentity;

    use super::*;
    use crate::batches::Caller;
    use crate::batches::plan::models;
    use crate::choices;
    use crate::models::{ConfiguredChat, ConfiguredModels};
    use evals_settings::{Layer, resolve};

    /// Chooses the models that answer or judge, each with the reason why it is asked directly.
    type Callers = fn(&ConfiguredModels) -> Vec<(&ConfiguredChat, Option<&'static str>)>;

    /// The prices of input of some models, if those that `callers` chooses answer or judge.
    fn prices(set: &[&str], callers: Callers) -> [Option<f64>; 4] {
        let common = [
            "batch.enabled=true",
            "qa.model=openai:a",
            "evaluations.judge=openai:j",
            "embeddings.model=openai:e",
            "prices={a: {input: 1, output: 2}, j: {input: 4, output: 8}, e: {input: 6, output: 0}}",
        ];
        let set = [&common[..], set].concat();
        let set: Vec<String> = set.iter().map(ToString::to_string).collect();
        let mut resolved =
            resolve(Layer::assignments(&set).unwrap().into_iter().collect()).unwrap();
        let configured = ConfiguredModels::of(&resolved.settings);
        let callers: Vec<Caller<'_>> = callers(&configured)
            .into_iter()
            .map(|(model, direct)| Caller {
                role: "model",
                model,
                direct,
            })
            .collect();
        resolved.batched = models(&resolved, &callers);
        let prices = choices::prices(&resolved);
        let named = ["openai:a", "openai:j", "openai:e", "target:j"];
        named.map(|model| {
            let (provider, name) = model.split_once(':').unwrap();
            prices.of(&ModelIdentity::new(provider, name)).input
        })
    }

    #[test]
    fn only_models_in_batches_get_the_discount() {
        let both: Callers = |models| vec![(&models.answerer, None), (&models.judge, None)];
        assert_eq!(prices(&[], both), [0.5, 2.0, 6.0, 4.0].map(Some));
        let agent: Callers =
            |models| vec![(&models.answerer, Some("an agent")), (&models.judge, None)];
        let quarter = ["batch.discount=0.25"];
        assert_eq!(prices(&quarter, agent), [1.0, 3.0, 6.0, 4.0].map(Some));
    }

    #[test]
    fn a_model_that_this_command_does_not_put_in_batches_keeps_its_price() {
        // For example with a target, or with the stored answers of another run.
        let judge: Callers = |models| vec![(&models.judge, None)];
        assert_eq!(prices(&[], judge), [1.0, 2.0, 6.0, 4.0].map(Some));
        // Costs are computed by model, so the calls of a target and of a judge have the same price.
        let target = ["target.address=chat:openai:j"];
        let further: Callers = |models| vec![(&models.judge, None), (&models.answerer, None)];
        assert_eq!(prices(&target, further), [0.5, 4.0, 6.0, 4.0].map(Some));
    }

    #[test]
    fn shares_are_percentages() {
        assert_eq!([0.5, 0.125, 1.0].map(percent), ["50 %", "12.5 %", "100 %"]);
    }
}
