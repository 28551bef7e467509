//! What a report says about itself besides its figures.

use anyhow::Result;
use evals::Report;
use evals_rag::qa::Qa;

use super::costs::Costs;
use super::models::Cast;

/// Adds the models with what their replies depend on, prompts, seed and costs: for programs each under its own key, for
/// people as lines under `facts`, which renderers print below the title.
pub(super) fn add(report: &mut Report<Qa>, cast: &Cast, costs: &Costs, seed: u64) -> Result<()> {
    let mut facts = costs.lines();
    facts.extend(
        cast.self_preference()
            .map(|warning| ("warning".to_owned(), warning)),
    );
    facts.extend(cast.notes());
    if seed != 0 {
        facts.push(("seed".to_owned(), seed.to_string()));
    }
    let values = [
        ("seed", seed.into()),
        ("models", serde_json::to_value(&cast.models)?),
        ("parameters", serde_json::to_value(&cast.parameters)?),
        ("prompts", serde_json::to_value(&cast.prompts)?),
        (
            "self_preference",
            serde_json::to_value(cast.self_preference())?,
        ),
        ("notes", serde_json::to_value(cast.notes())?),
        ("costs", serde_json::to_value(costs)?),
        ("facts", serde_json::to_value(facts)?),
    ];
    for (key, value) in values {
        report.metadata.insert(key.to_owned(), value);
    }
    Ok(())
}
