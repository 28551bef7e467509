//! Asking a chat model and keeping account of it.

use std::num::NonZeroU32;

use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};

use crate::Call;

/// The calls of one model for one case.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    model: &'a dyn ChatModel,
    /// The calls that came back so far.
    pub(crate) calls: Vec<Call>,
    /// Whether a budget was doubled; there is no second escalation.
    doubled: bool,
}

impl<'a> Exchange<'a> {
    pub(crate) fn new(model: &'a dyn ChatModel) -> Self {
        Self {
            model,
            calls: Vec::new(),
            doubled: false,
        }
    }

    pub(crate) async fn ask(&mut self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        let reply = self.model.chat(request).await?;
        self.calls.push(Call::from(&reply));
        Ok(reply)
    }

    /// Asks, and once more where the reply is cut: the first that is doubles the budget of `request`, for whatever follows
    /// too. The reply may be cut all the same.
    pub(crate) async fn ask_whole(
        &mut self,
        request: &mut ChatRequest,
    ) -> Result<ChatReply, ChatError> {
        let reply = self.ask(request).await?;
        if reply.finish == Finish::Length
            && !self.doubled
            && let Some(budget) = doubled(request, &reply)
        {
            self.doubled = true;
            request.max_tokens = Some(budget);
            return self.ask(request).await;
        }
        Ok(reply)
    }
}

/// Twice the budget that a cut reply used up. Where the request set none, what was written tells it; `None` where the
/// server did not count that.
pub(crate) fn doubled(request: &ChatRequest, cut: &ChatReply) -> Option<NonZeroU32> {
    let written = || {
        let written = u32::try_from(cut.usage.output_tokens).ok();
        written.and_then(NonZeroU32::new)
    };
    let counted = !cut.usage.estimated;
    let budget = request
        .max_tokens
        .or_else(|| counted.then(written).flatten())?;
    Some(budget.saturating_mul(NonZeroU32::MIN.saturating_add(1)))
}
