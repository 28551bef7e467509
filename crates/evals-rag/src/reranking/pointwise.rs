//! The pointwise reranker: a chat model scores one passage at a time.

use std::sync::Arc;

use async_trait::async_trait;
use evals_models::{
    ChatModel, ChatRequest, Message, ModelIdentity, ReplySchema, RerankError, Reranked, Reranker,
};
use futures::future::try_join_all;
use minijinja::context;
use serde::Deserialize;
use serde_json::json;

use super::inquiry::{Inquiry, Shape, reranked};
use crate::reply_object::{self, Wanted};
use crate::shown::Shown;
use crate::{Prompt, PromptError};

/// The best score; the worst is 0.
const BEST: u8 = 10;

/// Asks a chat model to score each passage on its own, from 0 to 10.
///
/// It makes one call for each passage, as many at once as the model's limits allow. Each reply is stored separately, so a
/// passage that another profile found for the same question costs nothing. Ties are common.
#[derive(Debug, Clone)]
pub struct PointwiseReranker(Inquiry);

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

    fn agrees(&self, other: &Self) -> bool {
        self == other
    }
}

impl PointwiseReranker {
    /// Asks `model` with the bundled prompt.
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self(Inquiry {
            model,
            prompt: Prompt::rerank_pointwise(),
            shape: Shape {
                member: r#""score": <whole number from 0 to 10>"#,
                missing: "it has no JSON object with a whole number `score` from 0 to 10",
            },
        })
    }

    /// Uses another prompt; [`Prompt::rerank_pointwise`] lists the values that it may use.
    #[must_use]
    pub fn prompt(self, prompt: Prompt) -> Self {
        Self(Inquiry { prompt, ..self.0 })
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
        Ok(ChatRequest {
            schema: Some(schema()),
            repeat,
            ..ChatRequest::new(vec![Message::user(self.0.prompt.render(prompt)?)])
        })
    }
}

/// The score in the text of an object, if there is one in range.
fn parse(object: &str) -> Option<Scored> {
    let scored: Scored = reply_object::parse(object)?;
    (scored.score <= BEST).then_some(scored)
}

fn schema() -> ReplySchema {
    ReplySchema {
        name: "relevance".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "id": { "type": "string" },
                "score": { "type": "integer", "minimum": 0, "maximum": BEST }
            },
            "required": ["id", "score"],
            "additionalProperties": false
        }),
    }
}

#[async_trait]
impl Reranker for PointwiseReranker {
    fn identity(&self) -> &ModelIdentity {
        self.0.model.identity()
    }

    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        repeat: u32,
    ) -> Result<Reranked, RerankError> {
        let scored = texts.iter().map(|text| async move {
            let shown = Shown::new(&[query, text]);
            let request = self.request_about(query, text, repeat, &shown)?;
            self.0.ask(request, &shown, parse).await
        });
        let scored = try_join_all(scored).await;
        let scored = scored.map_err(|failure| failure.of(self.identity(), texts.len()))?;
        let (scores, calls): (Vec<_>, Vec<_>) = scored.into_iter().unzip();
        let scores = scores.into_iter().map(|it| f32::from(it.score)).collect();
        Ok(reranked(scores, &calls.concat()))
    }
}
