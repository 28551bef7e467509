//! Calls, tokens and cost of one chat model in an estimate.

use std::fmt::{self, Display, Formatter};
use std::num::NonZeroU32;

use evals_messages::quantity;
use evals_models::{ChatRequest, ModelIdentity, Tokenizer};
use evals_rag::PromptError;
use evals_rag::estimate::{CallSize, Calls};
use evals_rag::prices::Price;
use evals_rag::rag_judges::CallRange;

use crate::spending::dollars;

/// The tokens of a reply that an estimate assumes where no `max_tokens` limits it.
pub(crate) const ASSUMED: u64 = 1_000;

/// The cost of everything in an estimate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Total {
    /// In USD; `None` if a price is unknown.
    cost: Option<f64>,
    /// Whether a model has no limit for its replies, so that the cost assumes one.
    is_assumed: bool,
}

impl Default for Total {
    fn default() -> Self {
        Self {
            cost: Some(0.0),
            is_assumed: false,
        }
    }
}

impl Total {
    /// Adds the calls of a model.
    pub(crate) fn add(&mut self, calls: &Calls, price: &Price) {
        if calls.calls > 0 {
            self.is_assumed |= calls.output_tokens.is_none();
            self.add_cost(limited(calls).cost(price));
        }
    }

    /// Adds a cost in USD; `None` is an unknown one.
    pub(crate) fn add_cost(&mut self, cost: Option<f64>) {
        self.cost = self.cost.zip(cost).map(|(sum, cost)| sum + cost);
    }

    pub(crate) fn is_known(&self) -> bool {
        self.cost.is_some()
    }
}

impl Display for Total {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> fmt::Result {
        let Some(cost) = self.cost else {
            return formatter.write_str("unknown, because a price is missing");
        };
        formatter.write_str(&at_most(cost))?;
        if self.is_assumed {
            write!(
                formatter,
                " if no reply has more than {ASSUMED} tokens; set `max_tokens` where it is missing to be sure"
            )?;
        }
        Ok(())
    }
}

/// The calls with a limit for their replies: their own, or else the assumed one.
fn limited(calls: &Calls) -> Calls {
    let assumed = calls.calls.saturating_mul(ASSUMED);
    Calls {
        output_tokens: calls.output_tokens.or(Some(assumed)),
        ..*calls
    }
}

/// Describes the calls, tokens and cost in one line.
pub(crate) fn line(calls: &Calls, model: &ModelIdentity, price: Price) -> String {
    range_line(&CallRange::exactly(*calls), model, price)
}

/// Describes the fewest and the most calls with their tokens, and the cost of the most, in one line.
pub(crate) fn range_line(
    CallRange { fewest, most }: &CallRange,
    model: &ModelIdentity,
    price: Price,
) -> String {
    if most.calls == 0 {
        return "no calls".to_owned();
    }
    let reading = Calls {
        output_tokens: Some(0),
        ..*most
    };
    let asked = between(fewest.calls, most.calls, "call");
    let read = between(fewest.input_tokens, most.input_tokens, "input token");
    match most.output_tokens {
        Some(written) => format!(
            "{asked}, {read}, at most {}, {}",
            quantity::of(written, "output token"),
            most.cost(&price).map_or_else(|| unpriced(model), at_most)
        ),
        None => format!(
            "{asked}, {read}, unlimited output tokens (the model has no `max_tokens`), {}",
            match reading.cost(&price).zip(limited(most).cost(&price)) {
                Some((input, cost)) => format!(
                    "{} for the input alone, {} with `max_tokens: {ASSUMED}`",
                    dollars(Some(input)),
                    at_most(cost)
                ),
                None => unpriced(model),
            }
        ),
    }
}

fn at_most(cost: f64) -> String {
    format!("at most {}", dollars(Some(cost)))
}

/// How to make the cost of a model known.
fn unpriced(model: &ModelIdentity) -> String {
    format!(
        "price unknown: set `prices.{}.input` and `output`",
        model.name
    )
}

/// A range such as "22 to 31 calls", or one number where both are equal.
fn between(fewest: u64, most: u64, noun: &str) -> String {
    if fewest == most {
        quantity::of(most, noun)
    } else {
        format!("{fewest} to {}", quantity::of(most, noun))
    }
}

/// The calls of a model: each of `requests` as often as it says.
pub(crate) fn of_requests(
    requests: impl Iterator<Item = Result<(u64, ChatRequest), PromptError>>,
    max_tokens: Option<NonZeroU32>,
    tokenizer: &dyn Tokenizer,
) -> Result<Calls, PromptError> {
    let mut calls = Calls::NONE;
    for request in requests {
        let (times, request) = request?;
        let size = side(&request, max_tokens, tokenizer);
        let call = Calls {
            calls: 1,
            input_tokens: size.prompt_tokens,
            output_tokens: size.max_tokens,
        };
        calls = calls.plus(&call.times(times));
    }
    Ok(calls)
}

/// The tokens of each call of a model. `request` is such a call with empty texts.
pub(crate) fn side(
    request: &ChatRequest,
    max_tokens: Option<NonZeroU32>,
    tokenizer: &dyn Tokenizer,
) -> CallSize {
    let messages = request.messages.iter();
    let prompt = messages.map(|message| tokenizer.count(&message.content) as u64);
    CallSize {
        prompt_tokens: prompt.sum(),
        max_tokens: request
            .max_tokens
            .or(max_tokens)
            .map(|most| most.get().into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_price_is_said_with_the_setting_that_states_it() {
        let model = ModelIdentity::new("openai", "judge");
        let calls = |output_tokens| Calls {
            calls: 2,
            input_tokens: 1_000_000,
            output_tokens,
        };
        let unpriced = "price unknown: set `prices.judge.input` and `output`";
        assert_eq!(
            line(&calls(Some(10)), &model, Price::default()),
            format!("2 calls, 1000000 input tokens, at most 10 output tokens, {unpriced}")
        );
        assert_eq!(
            line(&calls(None), &model, Price::default()),
            format!(
                "2 calls, 1000000 input tokens, unlimited output tokens (the model has no `max_tokens`), {unpriced}"
            )
        );
        let price = Price {
            input: Some(2.0),
            output: Some(0.0),
        };
        assert_eq!(
            line(&calls(Some(10)), &model, price),
            "2 calls, 1000000 input tokens, at most 10 output tokens, at most $2.0000"
        );
    }

    #[test]
    fn a_model_without_a_limit_has_a_cost_for_replies_of_an_assumed_length() {
        let model = ModelIdentity::new("openai", "judge");
        let calls = Calls {
            calls: 2,
            input_tokens: 1_000_000,
            output_tokens: None,
        };
        let price = Price {
            input: Some(2.0),
            output: Some(500.0),
        };
        assert_eq!(
            line(&calls, &model, price),
            "2 calls, 1000000 input tokens, unlimited output tokens (the model has no `max_tokens`), \
             $2.0000 for the input alone, at most $3.0000 with `max_tokens: 1000`"
        );
        let mut total = Total::default();
        assert_eq!(total.to_string(), "at most $0.0000");
        total.add(&calls, &price);
        assert_eq!(
            total.to_string(),
            "at most $3.0000 if no reply has more than 1000 tokens; set `max_tokens` where it is missing to be sure"
        );
        total.add(&calls, &Price::default());
        assert_eq!(total.to_string(), "unknown, because a price is missing");
    }
}
