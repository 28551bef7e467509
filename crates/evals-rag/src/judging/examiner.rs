//! Asks a model for a verdict, and once more if the reply holds none.

use std::num::NonZeroU32;
use std::sync::Arc;

use evals_models::{ChatModel, ChatReply, ChatRequest, Finish, Message, ReplySchema};
use minijinja::context;
use serde_json::json;

use super::verdict::{Decision, Unreadable};
use super::{JudgeError, JudgeFailure, Verdict};
use crate::exchange::Exchange;
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
        let mut exchange = Exchange::new(&*self.model);
        match self.decide(material, &mut exchange).await {
            Ok(decision) => Ok(Verdict {
                pass: decision.pass,
                reason: decision.reason,
                calls: exchange.calls,
            }),
            Err(failure) => Err(failure.after(exchange.calls)),
        }
    }

    /// Asks, and asks once more if the reply cannot be read.
    async fn decide(
        &self,
        material: Material<'_>,
        exchange: &mut Exchange<'_>,
    ) -> Result<Decision, JudgeFailure> {
        let shown = material.shown();
        let mut request = self.request_about(material, &shown)?;
        let reply = self.whole_reply(exchange, &mut request).await?;
        let complaint = match Decision::read(&reply.text, &shown) {
            Ok(decision) => return Ok(decision),
            Err(complaint) => complaint,
        };
        request
            .messages
            .extend(repair(&reply.text, complaint, &shown)?);
        let reply = self.whole_reply(exchange, &mut request).await?;
        Decision::read(&reply.text, &shown).map_err(|source| JudgeFailure::Unreadable {
            model: self.model.identity().clone(),
            source,
        })
    }

    /// Returns a complete reply. If the first one is cut off, asks again with twice the budget.
    async fn whole_reply(
        &self,
        exchange: &mut Exchange<'_>,
        request: &mut ChatRequest,
    ) -> Result<ChatReply, JudgeFailure> {
        let reply = exchange.ask_whole(request).await?;
        let model = || self.model.identity().clone();
        match reply.finish {
            Finish::Length => Err(JudgeFailure::Cut {
                model: model(),
                output_tokens: reply.usage.output_tokens,
            }),
            Finish::ContentFilter => Err(JudgeFailure::Filtered { model: model() }),
            _ => Ok(reply),
        }
    }
}

/// The messages that ask for a correction: the unreadable reply, and the complaint.
fn repair(broken: &str, complaint: Unreadable, shown: &Shown) -> Result<[Message; 2], PromptError> {
    // Some servers refuse a message without text.
    let broken = if broken.trim().is_empty() {
        "(no text)"
    } else {
        broken
    };
    let complaint = context! { complaint => complaint.to_string(), nonce => shown.nonce() };
    let complaint = Prompt::repair().render(complaint)?;
    Ok([Message::assistant(broken), Message::user(complaint)])
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
