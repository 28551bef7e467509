//! The listwise reranker: a chat model orders several passages at once.

use std::num::NonZeroUsize;
use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use evals_models::{
    ChatModel, ChatRequest, ModelIdentity, ReplySchema, RerankError, Reranked, Reranker,
};
use minijinja::context;
use serde::Deserialize;
use serde_json::json;

use super::{failed, reranked};
use crate::judging::{Inquiry, JudgeError, JudgeFailure, Shown, Wanted, parse_object};
use crate::{Call, Prompt, PromptError};

/// Asks a chat model for the order of many passages at once, as `RankGPT` does (Sun et al. 2023, arXiv 2304.09542).
///
/// A window of 20 passages moves from the end of the list to its beginning in steps of 10, so the best passages of each
/// window enter the next. If a reply repeats a number, the first place counts; passages that it omits follow in their old
/// order. Scores are positions counted from the end and express only the order.
#[derive(Debug, Clone)]
pub struct ListwiseReranker {
    model: Arc<dyn ChatModel>,
    prompt: Prompt,
    window: NonZeroUsize,
    step: NonZeroUsize,
}

/// Numbers of passages, from 1, best first.
#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Ranked {
    ranking: Vec<u32>,
}

impl Wanted for Ranked {
    const KEY: &'static str = "ranking";

    fn may_be_from(&self, shown: &Shown) -> bool {
        let ranking: Vec<f64> = self.ranking.iter().copied().map(f64::from).collect();
        let mut numbers = shown.numbers_under(Self::KEY);
        numbers.any(|numbers| numbers.starts_with(&ranking))
    }
}

impl ListwiseReranker {
    /// Asks `model` with the bundled prompt.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self {
            model,
            prompt: Prompt::rerank_listwise(),
            window: NonZeroUsize::new(20).expect("20 is not 0"),
            step: NonZeroUsize::new(10).expect("10 is not 0"),
        }
    }

    /// Uses another prompt; [`Prompt::rerank_listwise`] lists the values that it may use.
    #[must_use]
    pub fn prompt(self, prompt: Prompt) -> Self {
        Self { prompt, ..self }
    }

    /// Sets the number of passages per call and the step. A step larger than the window counts as the window.
    #[must_use]
    pub fn window(self, window: NonZeroUsize, step: NonZeroUsize) -> Self {
        Self {
            window,
            step: step.min(window),
            ..self
        }
    }

    /// The conversation that asks for the order of some passages.
    ///
    /// # Errors
    ///
    /// The prompt cannot be filled in.
    pub fn request(
        &self,
        question: &str,
        passages: &[&str],
        repeat: u32,
    ) -> Result<ChatRequest, PromptError> {
        self.request_about(question, passages, repeat, &shown(question, passages))
    }

    fn request_about(
        &self,
        question: &str,
        passages: &[&str],
        repeat: u32,
        shown: &Shown,
    ) -> Result<ChatRequest, PromptError> {
        let numbered = passages.iter().zip(1_usize..);
        let numbered: Vec<_> = numbered
            .map(|(&text, number)| context! { number, text })
            .collect();
        let prompt = context! { question, passages => numbered, nonce => shown.nonce() };
        let schema = ReplySchema::of_object(
            "ranking",
            json!({
                "id": {"type": "string"},
                "ranking": {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 1, "maximum": passages.len()},
                },
            }),
        );
        Ok(ChatRequest {
            repeat,
            ..ChatRequest::asking(self.prompt.render(prompt)?, schema)
        })
    }

    /// The number of passages in each call that ranking this many passages takes.
    pub fn calls(&self, passages: usize) -> Vec<usize> {
        let windows = windows(passages, self.window, self.step).into_iter();
        windows.map(|window| window.len()).collect()
    }

    /// The order of all texts, as numbers from 0, with the calls behind it.
    async fn order(
        &self,
        query: &str,
        texts: &[&str],
        repeat: u32,
    ) -> Result<(Vec<usize>, Vec<Call>), JudgeError> {
        let mut order: Vec<usize> = (0..texts.len()).collect();
        let mut calls = Vec::new();
        for window in windows(texts.len(), self.window, self.step) {
            let places = &mut order[window];
            let passages: Vec<&str> = places.iter().map(|&text| texts[text]).collect();
            let shown = shown(query, &passages);
            let request = self.request_about(query, &passages, repeat, &shown);
            let parse = |object: &str| parse(object, passages.len());
            let inquiry = Inquiry {
                request: request.map_err(JudgeFailure::from)?,
                shown: &shown,
                parse: &parse,
                wanted: "a list `ranking` of numbers of passages",
                shape: format!(
                    r#"{{"id": "{}", "ranking": [<number of the best passage>, <number of the next>, …]}}"#,
                    shown.nonce()
                ),
                repair: Prompt::rerank_repair(),
            };
            let (ranked, more) = inquiry.ask(&*self.model).await?;
            calls.extend(more);
            let rearranged = ranked.of(places);
            places.copy_from_slice(&rearranged);
        }
        Ok((order, calls))
    }
}

impl Ranked {
    /// `places` in this order, followed by those that it omits.
    fn of(&self, places: &[usize]) -> Vec<usize> {
        let mut taken = vec![false; places.len()];
        let numbers = self.ranking.iter().map(|number| *number as usize - 1);
        let mut order = Vec::with_capacity(places.len());
        for place in numbers.chain(0..places.len()) {
            if !std::mem::replace(&mut taken[place], true) {
                order.push(places[place]);
            }
        }
        order
    }
}

fn shown(question: &str, passages: &[&str]) -> Shown {
    Shown::new(&[&[question], passages].concat())
}

/// The positions of a window on its way from the end of `texts` to the beginning. A single text needs no call.
fn windows(texts: usize, window: NonZeroUsize, step: NonZeroUsize) -> Vec<Range<usize>> {
    let mut windows = Vec::new();
    if texts < 2 {
        return windows;
    }
    let mut end = texts;
    loop {
        let start = end.saturating_sub(window.get());
        windows.push(start..end);
        if start == 0 {
            return windows;
        }
        end -= step.get();
    }
}

/// The order in the text of an object, if it is not empty and names only existing passages.
fn parse(object: &str, passages: usize) -> Option<Ranked> {
    let ranked: Ranked = parse_object(object)?;
    let known = |number: &u32| (1..=passages).contains(&(*number as usize));
    (!ranked.ranking.is_empty() && ranked.ranking.iter().all(known)).then_some(ranked)
}

#[async_trait]
impl Reranker for ListwiseReranker {
    fn identity(&self) -> &ModelIdentity {
        self.model.identity()
    }

    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        repeat: u32,
    ) -> Result<Reranked, RerankError> {
        let ordered = self.order(query, texts, repeat).await;
        let (order, calls) =
            ordered.map_err(|error| failed(error, self.identity(), texts.len()))?;
        let mut scores = vec![0.0; texts.len()];
        let mut score = 0.0;
        for text in order.into_iter().rev() {
            score += 1.0;
            scores[text] = score;
        }
        Ok(reranked(scores, &calls))
    }
}
