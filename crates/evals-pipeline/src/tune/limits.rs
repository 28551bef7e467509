//! Bounds of what the chosen settings may take.

use anyhow::{Result, bail};
use evals_messages::nearest;
use evals_settings::Tune;
use evals_tune::Figure;

/// What can be bounded.
pub(super) const FIGURES: [(&str, Figure); 5] = [
    ("latency.mean", Figure::LatencyMean),
    ("latency.p50", Figure::LatencyP50),
    ("latency.p95", Figure::LatencyP95),
    ("latency.p99", Figure::LatencyP99),
    ("cost_per_question", Figure::CostPerQuestion),
];

/// The bounds of the section `tune:`.
pub(super) fn of(tune: &Tune) -> Result<Vec<(Figure, f64)>> {
    let bound = |(key, bound): (&String, &evals_settings::Amount)| {
        let known = FIGURES.iter().find(|(name, _)| name == key);
        let Some((_, figure)) = known else {
            let names = FIGURES.map(|(name, _)| name);
            let near = nearest::did_you_mean(nearest::of(key, names));
            bail!(
                "`tune.limits` has no `{key}`, only {}{near}",
                names.join(", ")
            );
        };
        Ok((*figure, bound.0))
    };
    tune.limits.iter().map(bound).collect()
}
