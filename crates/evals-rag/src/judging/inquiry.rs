//! Asks a model for a verdict about texts, and once more if the reply holds none that counts.

use std::fmt;

use evals_messages::visible;
use evals_models::{ChatModel, ChatReply, ChatRequest, Finish, Message, ModelIdentity};

use super::{JudgeError, JudgeFailure};
use crate::exchange::Exchange;
use crate::reply_object::{self, Own, Wanted};
use crate::shown::Shown;
use crate::{Call, Prompt};

/// A request for a verdict about texts that a model must judge and not obey.
///
/// A reply counts only if it holds a JSON object that `parse` reads and that cannot come from the shown texts, or that repeats
/// their nonce in the member `id` directly before the deciding member. A reply without one is sent back once with a complaint,
/// and a reply that is cut is requested again once with twice the budget. What fails then is a [`JudgeError`], never a verdict.
pub struct Inquiry<'a, T> {
    /// The conversation. It shows the texts between delimiters with their nonce, and asks for the object.
    pub request: ChatRequest,
    /// The texts that the conversation shows.
    pub shown: &'a Shown,
    /// Reads the text of a JSON object, if it is one that was asked for; [`parse_object`](super::parse_object) helps.
    pub parse: &'a (dyn Fn(&str) -> Option<T> + Sync),
    /// The members of the object in words, such as "a text `reason` and a boolean `pass`".
    pub wanted: &'static str,
    /// The form of the object, which the message that asks for a correction shows.
    pub shape: String,
    /// The prompt of that message. Values: `complaint`, `shape` and `nonce`.
    pub repair: Prompt,
}

impl<T: Wanted> Inquiry<'_, T> {
    /// Asks `model`. Returns the verdict with the calls behind it.
    pub async fn ask(&self, model: &dyn ChatModel) -> Result<(T, Vec<Call>), JudgeError> {
        self.ask_with(self.request.clone(), model).await
    }

    /// The same with another form of the request.
    pub(crate) async fn ask_with(
        &self,
        request: ChatRequest,
        model: &dyn ChatModel,
    ) -> Result<(T, Vec<Call>), JudgeError> {
        let mut exchange = Exchange::new(model);
        let decided = self.decide(request, model.identity(), &mut exchange).await;
        let mut calls = exchange.calls;
        match decided {
            Ok(own) => {
                if let Some(call) = calls.last_mut() {
                    call.verdict_is_signed = Some(own.is_signed);
                }
                Ok((own.object, calls))
            }
            Err(failure) => Err(JudgeError { failure, calls }),
        }
    }

    async fn decide(
        &self,
        mut request: ChatRequest,
        model: &ModelIdentity,
        exchange: &mut Exchange<'_>,
    ) -> Result<Own<T>, JudgeFailure> {
        let read = |reply: &ChatReply| {
            reply_object::read(&reply.text, self.shown, self.parse, self.wanted)
        };
        let reply = whole(exchange.ask_whole(&mut request).await?, model)?;
        let complaint = match read(&reply) {
            Ok(own) => return Ok(own),
            Err(complaint) => complaint.to_string(),
        };
        let message = self.repair.fill([
            ("complaint", complaint.as_str()),
            ("shape", &self.shape),
            ("nonce", self.shown.nonce()),
        ])?;
        // Some servers refuse a message without text.
        let broken = if reply.text.trim().is_empty() {
            "(no text)"
        } else {
            &reply.text
        };
        request
            .messages
            .extend([Message::assistant(broken), Message::user(message)]);
        let reply = whole(exchange.ask_whole(&mut request).await?, model)?;
        read(&reply).map_err(|source| JudgeFailure::Unreadable {
            model: model.clone(),
            reply: visible::beginning(&visible::folded(&reply.text), 200),
            source,
        })
    }
}

/// Refuses a reply that was cut or filtered.
fn whole(reply: ChatReply, model: &ModelIdentity) -> Result<ChatReply, JudgeFailure> {
    let model = || model.clone();
    match reply.finish {
        Finish::Length => Err(JudgeFailure::Cut {
            model: model(),
            output_tokens: reply.usage.output_tokens,
        }),
        Finish::ContentFilter => Err(JudgeFailure::Filtered { model: model() }),
        _ => Ok(reply),
    }
}

impl<T> fmt::Debug for Inquiry<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Inquiry")
            .field("request", &self.request)
            .field("wanted", &self.wanted)
            .finish_non_exhaustive()
    }
}
