//! Calls, tokens and cost of one chat model in an estimate.

use std::num::NonZeroU32;

use evals_messages::quantity;
use evals_models::{ChatRequest, ModelIdentity, Tokenizer};
use evals_rag::estimate::{Calls, Side};
use evals_rag::prices::Price;
use evals_rag::rag_judges::CallRange;

use crate::spending::dollars;

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
            "{asked}, {read}, unlimited output tokens (no `max_tokens`), {}",
            match reading.cost(&price) {
                Some(cost) => format!("{} for the input alone", dollars(Some(cost))),
                None => unpriced(model),
            }
        ),
    }
}

/// The cost of everything in an estimate.
pub(crate) fn total(cost: Option<f64>) -> String {
    cost.map_or_else(
        || "unknown, because a price or a `max_tokens` is missing".to_owned(),
        at_most,
    )
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

/// The tokens of each call of a model. `request` is such a call with empty texts.
pub(crate) fn side(
    request: &ChatRequest,
    max_tokens: Option<NonZeroU32>,
    tokenizer: &dyn Tokenizer,
) -> Side {
    let messages = request.messages.iter();
    let prompt = messages.map(|message| tokenizer.count(&message.content) as u64);
    Side {
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
                "2 calls, 1000000 input tokens, unlimited output tokens (no `max_tokens`), {unpriced}"
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
        assert_eq!(total(Some(2.0)), "at most $2.0000");
        assert_eq!(
            total(None),
            "unknown, because a price or a `max_tokens` is missing"
        );
    }
}
