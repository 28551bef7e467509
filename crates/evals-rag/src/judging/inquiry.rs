//! Asks a model for a verdict about texts, and once more if the reply holds none that counts.

use std::fmt;

use evals_models::{ChatModel, ChatRequest};

use super::{JudgeError, JudgeFailure, Unreadable};
use crate::exchange::Exchange;
use crate::object_exchange::NoObject;
use crate::reply_object::{self, Wanted};
use crate::shown::Shown;
use crate::{Call, PromptError};

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
    /// Words the message that asks for a correction, from the complaint.
    pub repair: &'a (dyn Fn(&str) -> Result<String, PromptError> + Sync),
}

impl<T: Wanted> Inquiry<'_, T> {
    /// Asks `model`. Returns the verdict with the calls behind it.
    pub async fn ask(self, model: &dyn ChatModel) -> Result<(T, Vec<Call>), JudgeError> {
        let mut exchange = Exchange::new(model);
        match self.decide(model, &mut exchange).await {
            Ok(verdict) => Ok((verdict, exchange.calls)),
            Err(failure) => Err(failure.after(exchange.calls)),
        }
    }

    async fn decide(
        self,
        model: &dyn ChatModel,
        exchange: &mut Exchange<'_>,
    ) -> Result<T, JudgeFailure> {
        let read = |reply: &str| {
            let read = reply_object::read(reply, self.shown, self.parse);
            Unreadable::or::<T, _>(read, self.wanted)
        };
        let repair = |complaint: &Unreadable| (self.repair)(&complaint.to_string());
        let verdict = exchange.ask_for_object(self.request, read, repair).await;
        if let Ok(own) = &verdict
            && let Some(call) = exchange.calls.last_mut()
        {
            call.verdict_is_signed = Some(own.is_signed);
        }
        let model = || model.identity().clone();
        verdict.map(|own| own.object).map_err(|error| match error {
            NoObject::Chat(error) => JudgeFailure::Chat(error),
            NoObject::Prompt(error) => JudgeFailure::Prompt(error),
            NoObject::Cut { output_tokens } => JudgeFailure::Cut {
                model: model(),
                output_tokens,
            },
            NoObject::Filtered => JudgeFailure::Filtered { model: model() },
            NoObject::Unreadable(source) => JudgeFailure::Unreadable {
                model: model(),
                source,
            },
        })
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
