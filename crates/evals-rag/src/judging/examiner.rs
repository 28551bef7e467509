//! Asks a model for a verdict on an answer.

use std::num::NonZeroU32;
use std::sync::Arc;

use evals_models::{ChatModel, ChatRequest, Message, ReplySchema};
use minijinja::context;
use serde_json::json;

use super::inquiry::Inquiry;
use super::verdict::{Decision, decision};
use super::{JudgeError, JudgeFailure, Verdict};
use crate::shown::Shown;
use crate::{Prompt, PromptError};

/// Shows graded material to a model and reads its verdict.
#[derive(Debug, Clone)]
pub(super) struct Examiner {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) prompt: Prompt,
    pub(super) max_tokens: Option<NonZeroU32>,
}

/// The graded material.
#[derive(Debug, Clone, Copy)]
pub(super) struct Material<'a> {
    pub(super) question: &'a str,
    pub(super) reference: Option<&'a str>,
    pub(super) answer: &'a str,
    pub(super) repeat: u32,
}

impl Material<'_> {
    fn shown(&self) -> Shown {
        let reference = self.reference.unwrap_or_default();
        Shown::new(&[self.question, reference, self.answer])
    }
}

impl Examiner {
    pub(super) fn new(model: Arc<dyn ChatModel>, prompt: Prompt) -> Self {
        Self {
            model,
            prompt,
            max_tokens: None,
        }
    }

    pub(super) fn request(&self, material: Material<'_>) -> Result<ChatRequest, PromptError> {
        self.request_about(material, &material.shown())
    }

    fn request_about(
        &self,
        material: Material<'_>,
        shown: &Shown,
    ) -> Result<ChatRequest, PromptError> {
        let prompt = self.prompt.render(context! {
            question => material.question,
            reference => material.reference,
            answer => material.answer,
            nonce => shown.nonce(),
        })?;
        Ok(ChatRequest {
            schema: Some(schema()),
            max_tokens: self.max_tokens,
            repeat: material.repeat,
            ..ChatRequest::new(vec![Message::user(prompt)])
        })
    }

    pub(super) async fn examine(&self, material: Material<'_>) -> Result<Verdict, JudgeError> {
        let shown = material.shown();
        let request = self.request_about(material, &shown);
        let inquiry = Inquiry {
            request: request.map_err(JudgeFailure::from)?,
            shown: &shown,
            parse: &decision,
            wanted: Decision::WANTED,
            repair: &|complaint| {
                Prompt::repair().render(context! { complaint, nonce => shown.nonce() })
            },
        };
        let (decision, calls) = inquiry.ask(&*self.model).await?;
        Ok(Verdict {
            pass: decision.pass,
            reason: decision.reason,
            calls,
            votes: Vec::new(),
        })
    }
}

/// The reason comes before the decision, because a model should argue before it decides. The `id` comes between them, so a
/// quotation in the reason cannot decide. The schema does not contain the value of the `id`, because providers need time to
/// prepare each new schema.
fn schema() -> ReplySchema {
    ReplySchema {
        name: "verdict".to_owned(),
        schema: json!({
            "type": "object",
            "properties": {
                "reason": { "type": "string" },
                "id": { "type": "string" },
                "pass": { "type": "boolean" }
            },
            "required": ["reason", "id", "pass"],
            "additionalProperties": false
        }),
    }
}
