//! Estimates the calls, tokens and cost of a test set, without a request to a model.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_messages::quantity;
use evals_models::Tokenizer as _;
use evals_questions::{Generator, first_passages};
use evals_rag::estimate::Calls;
use evals_rag::rag_judges::CallRange;
use evals_rag::{Document, Prompt};
use serde_json::json;

use super::Plan;
use crate::choices;
use crate::question_answering::calls::{Total, range_line};

const TEXT: &str = "a string takes any text";

const NOTES: &str = "
Token counts are approximate, because the embedded tokenizer counts them. Cached replies cost nothing.
The fewest calls assume that the filters drop nothing, the most that every question is dropped twice and each reply sent back.
The estimate excludes retries, replies that are sent back for their form, and embeddings.
";

/// Passages whose length is measured.
const SAMPLE: usize = 100;
/// Tokens of a question, an answer and its quotes together.
const WRITTEN: u64 = 150;

/// Renders the estimate.
pub(super) fn text(plan: &Plan<'_>, corpus: &[Document]) -> Result<String> {
    let log = plan.log.as_ref().map(|(questions, _)| questions.len());
    let questions = log.unwrap_or(plan.arguments.count.get());
    let settings = &plan.resolved.settings;
    let tokenizer = StaticEmbedder::static_minilm().tokenizer();
    let count = |text: &str| tokenizer.count(text) as u64;
    let seed = plan.arguments.seed;
    let sample = first_passages(corpus, &settings.questions, questions.min(SAMPLE), seed)?;
    let passage = sample.iter().map(|text| count(text)).sum::<u64>();
    let passage = passage.div_ceil(sample.len().max(1) as u64);
    let chunk = settings.processing.chunk_size;
    let chunk = chunk.map_or(passage, |most| passage.min(most.get() as u64));
    let found = chunk.saturating_mul(Generator::PASSAGES as u64);
    let empty = json!({
        "kind": "single_fact", "asker": "", "question": "", "answer": "", "quotes": [], "passages": [],
        "nonce": "0123456789abcdef", "shape": "",
    });
    // A prompt of the user's that cannot be filled in fails at its first use.
    let filled = |prompt: &Prompt| prompt.fill_with(&empty).map_or(0, |text| count(&text));
    let prompt = |prompt: &Prompt| filled(prompt) + WRITTEN;
    let prompts = &plan.prompts;
    let (fewest, evidence) = (questions as u64, prompt(&prompts.evidence));
    let attempts = fewest * Generator::ATTEMPTS as u64;
    let filtering = (prompt(&prompts.alone) + prompt(&prompts.others) + found).div_ceil(2);
    // The calls of each step, from every question kept at once to each kept at the last attempt, and the tokens that a call reads.
    let work = match log {
        Some(_) => [
            (fewest..=2 * fewest, prompt(&prompts.answer) + found),
            (0..=fewest, evidence),
        ],
        None => [
            (fewest..=2 * attempts, prompt(&prompts.write) + passage),
            // An unanswerable question has no evidence to check, and only a known answer is compared. The longest of the prompts is asked in
            // any case, so the mean is an upper bound.
            (2 * fewest..=4 * attempts, filtering.max(evidence)),
        ],
    };
    Ok(format!(
        "{}\n{}{NOTES}",
        quantity::of(questions, "question"),
        lines(plan, work)
    ))
}

/// A line for each step with the calls of its model and the tokens that a call reads, and their total.
fn lines(plan: &Plan<'_>, work: [(RangeInclusive<u64>, u64); 2]) -> String {
    let mut text = String::new();
    let prices = choices::prices(&plan.resolved);
    let mut total = Total::default();
    let models = &plan.choices.models;
    let steps = Generator::STEPS
        .iter()
        .zip([&models.answerer, &models.judge]);
    for ((step, model), (calls, tokens)) in steps.zip(work) {
        let most = model.settings.max_tokens();
        let one = Calls {
            calls: 1,
            input_tokens: tokens,
            output_tokens: most.map(|most| u64::from(most.get())),
        };
        let range = CallRange {
            fewest: one.times(*calls.start()),
            most: one.times(*calls.end()),
        };
        let identity = model.identity();
        let price = prices.of(&identity);
        total.add(&range.most, &price);
        let line = range_line(&range, &identity, price);
        writeln!(text, "{step:<10} {identity}: {line}").expect(TEXT);
    }
    writeln!(text, "{:<10} {total}", "total").expect(TEXT);
    text
}
