//! Adds up what judges read, wrote and cost.

use evals::CaseReport;
use evals_evaluators::Untyped;
use evals_messages::quantity;
use evals_models::ModelIdentity;
use evals_rag::Purpose;
use evals_rag::prices::Prices;
use evals_targets::{Payment, TargetIdentity};
use serde::Serialize;

use crate::payments;
use crate::spending::dollars;
use crate::targets::priced;

/// The metric of the tokens that a reply says it read, as pydantic-evals names it.
pub const INPUT_TOKENS: &str = "input_tokens";
/// The same for the tokens that it wrote.
pub const OUTPUT_TOKENS: &str = "output_tokens";

/// Tokens and cost of the judges of a run. A cached reply counts with its original tokens.
#[derive(Debug, Serialize)]
pub struct Costs {
    models: Vec<ModelIdentity>,
    input_tokens: f64,
    output_tokens: f64,
    /// Whether some token counts are estimates, because the server reported none.
    estimated: bool,
    /// USD; `None` where a price is not known, or where several judges with different prices share the tokens.
    cost: Option<f64>,
}

/// What the cases of earlier sessions cost at most: the dearest judge counts for all of them.
pub fn payments(
    cases: &[CaseReport<Untyped>],
    judges: Vec<ModelIdentity>,
    target: &TargetIdentity,
    prices: &Prices,
) -> Vec<Payment> {
    let verdicts = judges
        .into_iter()
        .map(|judge| payments::of_cases(cases, Purpose::Judge, judge));
    let cost = |payment: &Payment| prices.of(&payment.model).cost(payment.usage).unwrap_or(0.0);
    let dearest = verdicts.max_by(|one, other| cost(one).total_cmp(&cost(other)));
    // A case does not say which model the reply named.
    let target = priced(target, None, prices);
    let replies = payments::of_metrics(cases, INPUT_TOKENS, OUTPUT_TOKENS, target);
    dearest.into_iter().chain([replies]).collect()
}

impl Costs {
    /// Adds up what the cases recorded. `models` are the judges; `None` without one.
    pub fn of(
        cases: &[CaseReport<Untyped>],
        models: Vec<ModelIdentity>,
        prices: &Prices,
    ) -> Option<Self> {
        if models.is_empty() {
            return None;
        }
        let sum = |metric: &str| {
            let recorded = cases.iter().filter_map(|case| case.metrics.get(metric));
            // The sum of no floats is -0.
            recorded.fold(0.0, |sum, value| sum + value)
        };
        Some(Self {
            input_tokens: sum(Purpose::Judge.input_tokens()),
            output_tokens: sum(Purpose::Judge.output_tokens()),
            estimated: cases
                .iter()
                .any(|case| case.attributes.contains_key(Purpose::Judge.estimated())),
            cost: prices.cost_of_any(&models, cases, Purpose::Judge),
            models,
        })
    }

    /// The line of the report's facts.
    pub(crate) fn fact(&self) -> (String, String) {
        let models: Vec<String> = self.models.iter().map(ToString::to_string).collect();
        let estimated = if self.estimated { " (estimated)" } else { "" };
        let cost = if self.models.len() > 1 && self.cost.is_none() {
            "cost unknown (several judges)".to_owned()
        } else {
            dollars(self.cost)
        };
        let text = format!(
            "{}, {} read, {} written{estimated}, {cost}",
            models.join(" and "),
            quantity::of(self.input_tokens, "token"),
            self.output_tokens,
        );
        ("judging".to_owned(), text)
    }
}
