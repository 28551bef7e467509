//! Asks a model about passages, and sends unreadable replies back with a complaint.

use std::sync::Arc;
use std::time::Duration;

use evals_models::{ChatModel, ChatRequest, Reranked, Usage};
use minijinja::context;

use super::RankingFailure;
use crate::exchange::Exchange;
use crate::object_exchange::NoObject;
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
        request: ChatRequest,
        shown: &Shown,
        parse: impl Fn(&str) -> Option<T>,
    ) -> Result<(T, Vec<Call>), RankingFailure> {
        let mut exchange = Exchange::new(&*self.model);
        let read = |reply: &str| {
            let read = reply_object::read(reply, shown, &parse);
            read.map(|own| own.object)
                .map_err(|flaw| self.complaint(&flaw))
        };
        let repair = |complaint: &&'static str| self.repair(complaint, shown);
        let wanted = exchange.ask_for_object(request, read, repair).await?;
        Ok((wanted, exchange.calls))
    }

    fn complaint(&self, flaw: &Flaw) -> &'static str {
        match flaw {
            Flaw::Missing => self.shape.missing,
            Flaw::Quoted => {
                "it may be copied from the passages: it needs the `id` that was asked for, right before what decides"
            }
            Flaw::Contradictory | Flaw::Unusable(_) => "it contradicts itself",
        }
    }

    /// The message that asks for a correction.
    fn repair(&self, complaint: &str, shown: &Shown) -> Result<String, PromptError> {
        let shape = format!(r#"{{"id": "{}", {}}}"#, shown.nonce(), self.shape.member);
        Prompt::rerank_repair().render(context! { complaint, shape })
    }
}

impl From<NoObject<&'static str>> for RankingFailure {
    fn from(error: NoObject<&'static str>) -> Self {
        match error {
            NoObject::Chat(error) => Self::Chat(error),
            NoObject::Prompt(error) => Self::Prompt(error),
            NoObject::Cut { output_tokens } => Self::Cut { output_tokens },
            NoObject::Filtered => Self::Filtered,
            NoObject::Unreadable(complaint) => Self::Unreadable { complaint },
        }
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
