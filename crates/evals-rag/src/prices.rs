//! Prices of models and the cost of calls.

use std::collections::BTreeMap;

use evals::{CaseReport, Domain};
use evals_models::{ModelIdentity, Usage};
use serde::{Deserialize, Serialize};

use crate::call::{Purpose, number};

/// Prices are per this many tokens.
const MILLION: f64 = 1e6;

/// The price of a model's tokens, in USD per million. An unknown price is never treated as 0.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Price {
    /// Tokens read.
    pub input: Option<f64>,
    /// Tokens written, reasoning included.
    pub output: Option<f64>,
}

/// Prices by model, named `provider:name` or `name`; the former takes precedence.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Prices(pub BTreeMap<String, Price>);

/// The cost of a run's answers and verdicts, in USD. `None` if a price is unknown.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Cost {
    /// The cost of the answerer's calls.
    pub answering: Option<f64>,
    /// The cost of the judges' calls.
    pub judging: Option<f64>,
}

impl Price {
    /// The price of models that run in the process.
    pub const FREE: Self = Self {
        input: Some(0.0),
        output: Some(0.0),
    };

    /// The cost of tokens, in USD; `None` if any tokens have no known price.
    pub fn cost(&self, usage: Usage) -> Option<f64> {
        self.of(number(usage.input_tokens), number(usage.output_tokens))
    }

    /// The cost of the tokens that cases recorded for one purpose, counted as in [`Cost::of`].
    pub fn of_cases<'r, D: Domain>(
        &self,
        cases: impl IntoIterator<Item = &'r CaseReport<D>>,
        purpose: Purpose,
    ) -> Option<f64> {
        let mut tokens = Tokens::default();
        for case in cases {
            tokens.add(case, purpose);
        }
        self.of(tokens.input, tokens.output)
    }

    fn of(&self, input_tokens: f64, output_tokens: f64) -> Option<f64> {
        let side = |price: Option<f64>, tokens: f64| match price {
            Some(price) => Some(price * tokens / MILLION),
            None => (tokens == 0.0).then_some(0.0),
        };
        Some(side(self.input, input_tokens)? + side(self.output, output_tokens)?)
    }
}

impl Prices {
    /// The price of a model. Models that run in the process cost nothing; a model that is not listed has an unknown price.
    pub fn of(&self, model: &ModelIdentity) -> Price {
        if matches!(model.provider.as_str(), "embedded" | "local") {
            return Price::FREE;
        }
        let listed = self.0.get(&model.to_string());
        let listed = listed.or_else(|| self.0.get(&model.name));
        listed.copied().unwrap_or_default()
    }

    /// The cost of the tokens that cases recorded for one purpose, where they do not say which of several models used them. `None` if the
    /// models differ in what these tokens cost, or without models.
    pub fn cost_of_any<D: Domain>(
        &self,
        models: &[ModelIdentity],
        cases: &[CaseReport<D>],
        purpose: Purpose,
    ) -> Option<f64> {
        let mut costs = models
            .iter()
            .map(|model| self.of(model).of_cases(cases, purpose));
        let first = costs.next()?;
        first.filter(|_| costs.all(|cost| cost == first))
    }
}

impl Cost {
    /// Adds up the cost of the tokens that cases recorded, failed cases included. Works for a whole report and for a single
    /// finished case.
    ///
    /// Stored replies count at full price: the result is the price of the work, not the amount charged.
    pub fn of<'r, D: Domain>(
        cases: impl IntoIterator<Item = &'r CaseReport<D>>,
        answerer: &Price,
        judge: &Price,
    ) -> Self {
        let mut answering = Tokens::default();
        let mut judging = Tokens::default();
        for case in cases {
            answering.add(case, Purpose::Answerer);
            judging.add(case, Purpose::Judge);
        }
        Self {
            answering: answerer.of(answering.input, answering.output),
            judging: judge.of(judging.input, judging.output),
        }
    }

    /// The sum of both; `None` if either is unknown.
    pub fn total(&self) -> Option<f64> {
        Some(self.answering? + self.judging?)
    }
}

/// Recorded tokens.
#[derive(Default)]
struct Tokens {
    input: f64,
    output: f64,
}

impl Tokens {
    fn add<D: Domain>(&mut self, case: &CaseReport<D>, purpose: Purpose) {
        let recorded = |metric| case.metrics.get(metric).copied().unwrap_or(0.0);
        self.input += recorded(purpose.input_tokens());
        self.output += recorded(purpose.output_tokens());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn usage(input_tokens: u64, output_tokens: u64) -> Usage {
        Usage {
            input_tokens,
            output_tokens,
            estimated: false,
        }
    }

    #[test]
    fn prices_are_per_million_tokens() {
        let price = Price {
            input: Some(0.5),
            output: Some(8.0),
        };
        assert_eq!(price.cost(usage(2_000_000, 250_000)), Some(3.0));
    }

    #[test]
    fn unknown_prices_have_no_cost() {
        let input_only = Price {
            input: Some(2.0),
            output: None,
        };
        assert_eq!(input_only.cost(usage(500_000, 1)), None);
        assert_eq!(input_only.cost(usage(500_000, 0)), Some(1.0));
        assert_eq!(Price::default().cost(usage(1, 0)), None);
        let cost = Cost {
            answering: Some(1.0),
            judging: None,
        };
        assert_eq!(cost.total(), None);
    }

    #[test]
    fn a_providers_price_takes_precedence_over_the_bare_name() {
        let prices: Prices = serde_json::from_str(
            r#"{"gpt": {"input": 1, "output": 2}, "azure:gpt": {"input": 3, "output": null}}"#,
        )
        .unwrap();
        let of = |provider: &str, name: &str| prices.of(&ModelIdentity::new(provider, name)).input;
        assert_eq!(of("openai", "gpt"), Some(1.0));
        assert_eq!(of("azure", "gpt"), Some(3.0));
        assert_eq!(of("azure", "other"), None);
        assert_eq!(of("embedded", "extractive"), Some(0.0));
        assert_eq!(of("local", "ms-marco-MiniLM-L6-v2"), Some(0.0));
    }

    #[test]
    fn tokens_that_models_share_have_a_cost_if_all_models_agree_on_it() {
        let prices: Prices = serde_json::from_str(
            r#"{"one": {"input": 1, "output": 2}, "two": {"input": 1, "output": 2}, "three": {"input": 4, "output": 2}}"#,
        )
        .unwrap();
        let mut case: CaseReport<crate::Retrieval> = serde_json::from_value(serde_json::json!({
            "id": "q1", "repeat": 1, "input": "?", "expected": null, "metadata": {"answerable": true},
            "result": {"failure": {"kind": "error", "message": "timeout"}}, "outcomes": [],
            "evaluator_failures": [], "seconds": 1.0, "timings": [], "metrics": {}, "attributes": {},
        }))
        .unwrap();
        let metric = Purpose::Judge.input_tokens().to_owned();
        case.metrics.insert(metric, 3_000_000.0);
        let cost = |names: &[&str]| {
            let models = names.iter().map(|name| ModelIdentity::new("openai", *name));
            let models: Vec<_> = models.collect();
            prices.cost_of_any(&models, std::slice::from_ref(&case), Purpose::Judge)
        };
        assert_eq!(cost(&["one", "two"]), Some(3.0));
        assert_eq!(cost(&["one", "three"]), None);
        assert_eq!(cost(&["one", "unlisted"]), None);
        assert_eq!(cost(&[]), None);
    }

    #[test]
    fn a_misspelt_price_is_refused() {
        let error = serde_json::from_str::<Price>(r#"{"inptu": 1}"#).unwrap_err();
        assert!(error.to_string().starts_with("unknown field `inptu`"));
    }
}
