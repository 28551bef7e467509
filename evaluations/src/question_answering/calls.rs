//! Calls, tokens and cost of one chat model in an estimate.

use std::num::NonZeroU32;

use evals_messages::quantity;
use evals_models::{ChatRequest, Tokenizer};
use evals_rag::estimate::{Calls, Side};
use evals_rag::prices::Price;
use evals_rag::rag_judges::CallRange;

use crate::spending::dollars;

/// Describes the calls, tokens and cost in one line.
pub(crate) fn line(calls: &Calls, price: Price) -> String {
    range_line(&CallRange::exactly(*calls), price)
}

/// Describes the fewest and the most calls with their tokens, and the cost of the most, in one line.
pub(crate) fn range_line(CallRange { fewest, most }: &CallRange, price: Price) -> String {
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
            "{asked}, {read}, at most {}, at most {}",
            quantity::of(written, "output token"),
            dollars(most.cost(&price))
        ),
        None => format!(
            "{asked}, {read}, unlimited output tokens (no `max_tokens`), {} for the input alone",
            dollars(reading.cost(&price))
        ),
    }
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
