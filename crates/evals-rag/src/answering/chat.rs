use std::num::NonZeroU32;
use std::sync::Arc;

use async_trait::async_trait;
use evals_models::{ChatModel, ChatReply, ChatRequest, Finish, Message, ModelIdentity};
use minijinja::context;

use super::{AnswerError, AnswerFailure, Answered, Answerer, Refusals};
use crate::exchange::{Exchange, doubled};
use crate::{Passage, Prompt, PromptError};

/// Answers with a language model.
///
/// A reply that is empty because the model thought until its budget was used up is asked for once more, with twice the
/// budget. Empty, cut and filtered replies are failures of the content, not answers.
#[derive(Debug, Clone)]
pub struct ChatAnswerer {
    model: Arc<dyn ChatModel>,
    prompt: Prompt,
    refusals: Refusals,
    max_tokens: Option<NonZeroU32>,
}

impl ChatAnswerer {
    /// Asks `model` with the bundled prompt, within the budget of tokens that the model is set to.
    pub fn new(model: Arc<dyn ChatModel>, refusals: Refusals) -> Self {
        Self {
            model,
            prompt: Prompt::answer(),
            refusals,
            max_tokens: None,
        }
    }

    /// Uses another prompt; [`Prompt::answer`] says which values it may name.
    #[must_use]
    pub fn prompt(self, prompt: Prompt) -> Self {
        Self { prompt, ..self }
    }

    /// Limits the tokens of a reply, reasoning included.
    #[must_use]
    pub fn max_tokens(self, max_tokens: NonZeroU32) -> Self {
        Self {
            max_tokens: Some(max_tokens),
            ..self
        }
    }

    /// The conversation that asks `question`.
    ///
    /// # Errors
    ///
    /// A prompt that cannot be filled in.
    pub fn request(
        &self,
        question: &str,
        passages: &[Passage],
        repeat: u32,
    ) -> Result<ChatRequest, PromptError> {
        let numbered = passages.iter().zip(1_usize..).map(|(passage, number)| {
            context! {
                number,
                title => passage.title.as_deref(),
                text => passage.text.as_str(),
            }
        });
        let prompt = self.prompt.render(context! {
            question,
            refusal => self.refusals.sentence(),
            passages => numbered.collect::<Vec<_>>(),
        })?;
        Ok(ChatRequest {
            max_tokens: self.max_tokens,
            repeat,
            ..ChatRequest::new(vec![Message::user(prompt)])
        })
    }

    async fn reply(
        &self,
        exchange: &mut Exchange<'_>,
        request: ChatRequest,
    ) -> Result<ChatReply, AnswerFailure> {
        let reply = exchange.ask(&request).await?;
        if reply.finish == Finish::Length
            && reply.text.trim().is_empty()
            && let Some(budget) = doubled(&request, &reply)
        {
            let request = ChatRequest {
                max_tokens: Some(budget),
                ..request
            };
            return Ok(exchange.ask(&request).await?);
        }
        Ok(reply)
    }

    fn usable(&self, reply: ChatReply) -> Result<ChatReply, AnswerFailure> {
        let model = || self.model.identity().clone();
        match reply.finish {
            Finish::ContentFilter => Err(AnswerFailure::Filtered { model: model() }),
            Finish::Length => Err(AnswerFailure::Cut {
                model: model(),
                output_tokens: reply.usage.output_tokens,
            }),
            _ if reply.text.trim().is_empty() => Err(AnswerFailure::Empty { model: model() }),
            _ => Ok(reply),
        }
    }
}

#[async_trait]
impl Answerer for ChatAnswerer {
    fn identity(&self) -> &ModelIdentity {
        self.model.identity()
    }

    async fn answer(
        &self,
        question: &str,
        passages: &[Passage],
        repeat: u32,
    ) -> Result<Answered, AnswerError> {
        let request = self.request(question, passages, repeat);
        let request = request.map_err(|error| AnswerFailure::from(error).after(Vec::new()))?;
        let mut exchange = Exchange::new(&*self.model);
        let reply = self.reply(&mut exchange, request).await;
        match reply.and_then(|reply| self.usable(reply)) {
            Ok(reply) => Ok(Answered {
                refused: self.refusals.refuses(&reply.text),
                text: reply.text.trim().to_owned(),
                finish: reply.finish,
                calls: exchange.calls,
            }),
            Err(failure) => Err(failure.after(exchange.calls)),
        }
    }
}
