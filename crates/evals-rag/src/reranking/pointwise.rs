//! The pointwise reranker: a chat model scores one passage at a time.

use std::sync::Arc;

use async_trait::async_trait;
use evals_models::{
    ChatModel, ChatRequest, ModelIdentity, ReplySchema, RerankError, Reranked, Reranker,
};
use futures::future::try_join_all;
use minijinja::context;
use serde::Deserialize;
use serde_json::json;

use super::{failed, reranked};
use crate::judging::{Inquiry, JudgeError, JudgeFailure, Shown, Wanted, parse_object};
use crate::{Call, Prompt, PromptError};

/// The best score; the worst is 0.
const BEST: u8 = 10;

/// Asks a chat model to score each passage on its own, from 0 to 10.
///
/// It makes one call for each passage, as many at once as the model's limits allow. Each reply is stored separately, so a
/// passage that another profile found for the same question costs nothing. Ties are common.
#[derive(Debug, Clone)]
pub struct PointwiseReranker {
    model: Arc<dyn ChatModel>,
    prompt: Prompt,
}

#[derive(Debug, PartialEq, Eq, Deserialize)]
struct Scored {
    score: u8,
}

impl Wanted for Scored {
    const KEY: &'static str = "score";

    fn may_be_from(&self, shown: &Shown) -> bool {
        let mut numbers = shown.numbers_under(Self::KEY);
        numbers.any(|numbers| numbers.first() == Some(&f64::from(self.score)))
    }
}

impl PointwiseReranker {
    /// Asks `model` with the bundled prompt.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        let prompt = Prompt::rerank_pointwise();
        Self { model, prompt }
    }

    /// Uses another prompt; [`Prompt::rerank_pointwise`] lists the values that it may use.
    #[must_use]
    pub fn prompt(self, prompt: Prompt) -> Self {
        Self { prompt, ..self }
    }

    /// The conversation that asks for the score of one passage.
    ///
    /// # Errors
    ///
    /// The prompt cannot be filled in.
    pub fn request(
        &self,
        question: &str,
        passage: &str,
        repeat: u32,
    ) -> Result<ChatRequest, PromptError> {
        self.request_about(question, passage, repeat, &Shown::new(&[question, passage]))
    }

    fn request_about(
        &self,
        question: &str,
        passage: &str,
        repeat: u32,
        shown: &Shown,
    ) -> Result<ChatRequest, PromptError> {
        let prompt = context! { question, passage, nonce => shown.nonce() };
        let schema = ReplySchema::of_object(
            "relevance",
            json!({
                "id": {"type": "string"},
                "score": {"type": "integer", "minimum": 0, "maximum": BEST},
            }),
        );
        Ok(ChatRequest {
            repeat,
            ..ChatRequest::asking(self.prompt.render(prompt)?, schema)
        })
    }

    async fn score(
        &self,
        query: &str,
        text: &str,
        repeat: u32,
    ) -> Result<(Scored, Vec<Call>), JudgeError> {
        let shown = Shown::new(&[query, text]);
        let request = self.request_about(query, text, repeat, &shown);
        let inquiry = Inquiry {
            request: request.map_err(JudgeFailure::from)?,
            shown: &shown,
            parse: &parse,
            wanted: "a whole number `score` from 0 to 10",
            shape: format!(
                r#"{{"id": "{}", "score": <whole number from 0 to 10>}}"#,
                shown.nonce()
            ),
            repair: Prompt::rerank_repair(),
        };
        inquiry.ask(&*self.model).await
    }
}

/// The score in the text of an object, if there is one in range.
fn parse(object: &str) -> Option<Scored> {
    let scored: Scored = parse_object(object)?;
    (scored.score <= BEST).then_some(scored)
}

#[async_trait]
impl Reranker for PointwiseReranker {
    fn identity(&self) -> &ModelIdentity {
        self.model.identity()
    }

    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        repeat: u32,
    ) -> Result<Reranked, RerankError> {
        let scored = texts.iter().map(|text| self.score(query, text, repeat));
        let scored = try_join_all(scored).await;
        let scored = scored.map_err(|error| failed(error, self.identity(), texts.len()))?;
        let (scores, calls): (Vec<_>, Vec<_>) = scored.into_iter().unzip();
        let scores = scores.into_iter().map(|it| f32::from(it.score)).collect();
        Ok(reranked(scores, &calls.concat()))
    }
}
