//! Estimates the calls, tokens and cost of a test set, without a request to a model.

use std::fmt::Write as _;
use std::ops::RangeInclusive;

use anyhow::Result;
use evals_local::StaticEmbedder;
use evals_messages::quantity;
use evals_models::Tokenizer as _;
use evals_questions::{Corpus, EstimatedCalls, Generator, first_passages};
use evals_rag::Prompt;
use evals_rag::estimate::Calls;
use evals_rag::rag_judges::CallRange;
use serde_json::json;

use super::Plan;
use crate::choices;
use crate::models::ConfiguredChat;
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

/// The calls, and the tokens that each of them reads.
struct Work {
    questions: u64,
    calls: EstimatedCalls,
    writing: u64,
    filtering: u64,
}

impl Work {
    fn of(plan: &Plan<'_>, corpus: &dyn Corpus) -> Result<Self> {
        let settings = &plan.resolved.settings;
        let tokenizer = StaticEmbedder::static_minilm().tokenizer();
        let count = |text: &str| tokenizer.count(text) as u64;
        let (wanted, seed) = (plan.arguments.count.get(), plan.arguments.seed);
        let sample = first_passages(corpus, &settings.questions, wanted.min(SAMPLE), seed)?;
        let passage = sample.iter().map(|text| count(text)).sum::<u64>();
        let passage = passage.div_ceil(sample.len().max(1) as u64);
        let chunk = settings.processing.chunk_size;
        let chunk = chunk.map_or(passage, |most| passage.min(most.get() as u64));
        let found = chunk.saturating_mul(Generator::PASSAGES as u64);
        let prompt = |prompt: &Prompt| prompt_tokens(prompt, &count);
        let prompts = &plan.prompts;
        let evidence = prompt(&prompts.evidence) + WRITTEN;
        if let Some(log) = &plan.log {
            let questions = log.questions.len() as u64;
            return Ok(Self {
                questions,
                calls: EstimatedCalls::of_logged(questions),
                writing: prompt(&prompts.answer) + found + WRITTEN,
                filtering: evidence,
            });
        }
        let alone = prompt(&prompts.alone) + WRITTEN;
        let others = prompt(&prompts.others) + found + WRITTEN;
        Ok(Self {
            questions: wanted as u64,
            calls: EstimatedCalls::of_written(wanted as u64),
            writing: prompt(&prompts.write) + passage,
            // The longest of them is asked in any case, so the mean is an upper bound.
            filtering: (alone + others).div_ceil(2).max(evidence),
        })
    }
}

/// Renders the estimate.
pub(super) fn text(plan: &Plan<'_>, corpus: &dyn Corpus) -> Result<String> {
    let work = Work::of(plan, corpus)?;
    let mut text = format!("{}\n", quantity::of(work.questions, "question"));
    let prices = choices::prices(&plan.resolved);
    let mut total = Total::default();
    let models = &plan.choices.models;
    for (what, model, calls, tokens) in [
        ("writing", &models.answerer, work.calls.writer, work.writing),
        ("filtering", &models.judge, work.calls.judge, work.filtering),
    ] {
        let (range, identity) = (range(model, &calls, tokens), model.identity());
        let price = prices.of(&identity);
        total.add(&range.most, &price);
        let line = range_line(&range, &identity, price);
        writeln!(text, "{what:<10} {identity}: {line}").expect(TEXT);
    }
    writeln!(text, "{:<10} {total}", "total").expect(TEXT);
    text.push_str(NOTES);
    Ok(text)
}

/// The calls of a model, each of which reads `tokens` tokens.
fn range(model: &ConfiguredChat, calls: &RangeInclusive<u64>, tokens: u64) -> CallRange {
    let most = model
        .settings
        .max_tokens()
        .map(|most| u64::from(most.get()));
    let of = |calls: u64| {
        let one = Calls {
            calls: 1,
            input_tokens: tokens,
            output_tokens: most,
        };
        one.times(calls)
    };
    CallRange {
        fewest: of(*calls.start()),
        most: of(*calls.end()),
    }
}

/// The tokens of a prompt without the texts that it shows.
fn prompt_tokens(prompt: &Prompt, count: &dyn Fn(&str) -> u64) -> u64 {
    let values = json!({
        "kind": "single_fact", "asker": "", "question": "", "answer": "", "quotes": [], "passages": [],
        "nonce": "0123456789abcdef", "shape": "",
    });
    // A prompt of the user's that cannot be filled in fails at its first use.
    prompt.fill_with(&values).map_or(0, |text| count(&text))
}
