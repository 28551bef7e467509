//! Calls, tokens and cost of one chat model in an estimate.

use std::num::NonZeroU32;

use evals_messages::quantity;
use evals_models::{ChatRequest, Tokenizer};
use evals_rag::estimate::{Calls, Side};
use evals_rag::prices::Price;

use crate::spending::dollars;

/// Describes the calls, tokens and cost in one line.
pub(crate) fn line(calls: &Calls, price: Price) -> String {
    if calls.calls == 0 {
        return "no calls".to_owned();
    }
    let reading = Calls {
        output_tokens: Some(0),
        ..*calls
    };
    let asked = quantity::of(calls.calls, "call");
    let read = quantity::of(calls.input_tokens, "input token");
    match calls.output_tokens {
        Some(most) => format!(
            "{asked}, {read}, at most {}, at most {}",
            quantity::of(most, "output token"),
            dollars(calls.cost(&price))
        ),
        None => format!(
            "{asked}, {read}, unlimited output tokens (no `max_tokens`), {} for the input alone",
            dollars(reading.cost(&price))
        ),
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
