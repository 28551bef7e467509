//! Asks a model about passages, and sends unreadable replies back with a complaint.

use std::sync::Arc;
use std::time::Duration;

use evals_models::{ChatModel, ChatReply, ChatRequest, Finish, Message, Reranked, Usage};
use minijinja::context;

use super::RankingFailure;
use crate::exchange::Exchange;
use crate::reply_object::{self, Flaw, Wanted};
use crate::shown::Shown;
use crate::{Call, Prompt, PromptError};

/// Asks a chat model for an object of a certain shape.
#[derive(Debug, Clone)]
pub(super) struct Inquiry {
    pub(super) model: Arc<dyn ChatModel>,
    pub(super) prompt: Prompt,
    pub(super) shape: Shape,
}

/// The object that a model is asked for, described in words.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    /// The object's other member besides its `id`, as a pattern.
    pub(super) member: &'static str,
    /// The complaint about a reply without such an object.
    pub(super) missing: &'static str,
}

impl Inquiry {
    /// Asks about shown texts. Asks once more if the reply has no trustworthy object that `parse` can read.
    pub(super) async fn ask<T: Wanted>(
        &self,
        mut request: ChatRequest,
        shown: &Shown,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<(T, Vec<Call>), RankingFailure> {
        let read = |reply: &str| reply_object::read(reply, shown, &parse);
        let mut exchange = Exchange::new(&*self.model);
        let reply = whole_reply(&mut exchange, &mut request).await?;
        let complaint = match read(&reply.text) {
            Ok(wanted) => return Ok((wanted, exchange.calls)),
            Err(flaw) => self.complaint(flaw),
        };
        request
            .messages
            .extend(self.repair(&reply.text, complaint, shown)?);
        let reply = whole_reply(&mut exchange, &mut request).await?;
        match read(&reply.text) {
            Ok(wanted) => Ok((wanted, exchange.calls)),
            Err(flaw) => Err(RankingFailure::Unreadable {
                complaint: self.complaint(flaw),
            }),
        }
    }

    fn complaint(&self, flaw: Flaw) -> &'static str {
        match flaw {
            Flaw::Missing => self.shape.missing,
            Flaw::Quoted => {
                "it may be copied from the passages: it needs the `id` that was asked for, right before what decides"
            }
            Flaw::Contradictory => "it contradicts itself",
        }
    }

    /// The messages that ask for a correction: the unreadable reply, and the complaint.
    fn repair(
        &self,
        broken: &str,
        complaint: &str,
        shown: &Shown,
    ) -> Result<[Message; 2], PromptError> {
        // Some servers refuse a message without text.
        let broken = if broken.trim().is_empty() {
            "(no text)"
        } else {
            broken
        };
        let shape = format!(r#"{{"id": "{}", {}}}"#, shown.nonce(), self.shape.member);
        let message = Prompt::rerank_repair().render(context! { complaint, shape })?;
        Ok([Message::assistant(broken), Message::user(message)])
    }
}

async fn whole_reply(
    exchange: &mut Exchange<'_>,
    request: &mut ChatRequest,
) -> Result<ChatReply, RankingFailure> {
    let reply = exchange.ask_whole(request).await?;
    match reply.finish {
        Finish::Length => Err(RankingFailure::Cut {
            output_tokens: reply.usage.output_tokens,
        }),
        Finish::ContentFilter => Err(RankingFailure::Filtered),
        _ => Ok(reply),
    }
}

/// The scores, with the tokens and the service time of the calls behind them.
pub(super) fn reranked(scores: Vec<f32>, calls: &[Call]) -> Reranked {
    let usages = calls.iter().filter_map(|call| call.usage);
    Reranked {
        scores,
        usage: usages.reduce(Usage::plus),
        service_time: calls.iter().map(|call| call.service_time).sum::<Duration>(),
        cached: !calls.is_empty() && calls.iter().all(|call| call.cached),
    }
}
