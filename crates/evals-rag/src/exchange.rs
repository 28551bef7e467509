//! Asks a chat model and keeps a list of its calls.

use std::num::NonZeroU32;

use evals_models::{ChatError, ChatModel, ChatReply, ChatRequest, Finish};

use crate::Call;

/// The calls of one model for one case.
#[derive(Debug)]
pub(crate) struct Exchange<'a> {
    model: &'a dyn ChatModel,
    /// The calls that returned so far.
    pub(crate) calls: Vec<Call>,
    /// Whether the budget was already doubled; it is doubled only once.
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

    /// Asks, and asks once more if the reply is cut. The first cut reply doubles the budget of `request`, also for later
    /// calls. The second reply may be cut as well.
    pub(crate) async fn ask_whole(
        &mut self,
        request: &mut ChatRequest,
    ) -> Result<ChatReply, ChatError> {
        let reply = self.ask(request).await?;
        if reply.finish == Finish::Length
            && !self.doubled
            && let Some(budget) = self.doubled(request, &reply)
        {
            self.doubled = true;
            request.max_tokens = Some(budget);
            return self.ask(request).await;
        }
        Ok(reply)
    }

    /// Asks, and asks once more with twice the budget if the reply is empty because reasoning used the budget up.
    pub(crate) async fn ask_past_reasoning(
        &mut self,
        request: &ChatRequest,
    ) -> Result<ChatReply, ChatError> {
        let reply = self.ask(request).await?;
        let is_spent = reply.finish == Finish::Length
            && reply.text.trim().is_empty()
            && reply.tool_calls.is_empty();
        if is_spent && let Some(budget) = self.doubled(request, &reply) {
            let request = ChatRequest {
                max_tokens: Some(budget),
                ..request.clone()
            };
            return self.ask(&request).await;
        }
        Ok(reply)
    }

    /// Twice the budget that a cut reply used up: that of the request or of the model's settings, or the number of tokens
    /// written if it is larger. `None` if there is no known budget and the server did not count the tokens.
    pub(crate) fn doubled(&self, request: &ChatRequest, cut: &ChatReply) -> Option<NonZeroU32> {
        let budget = request.max_tokens.or_else(|| self.set_budget());
        let written = u32::try_from(cut.usage.output_tokens).unwrap_or(u32::MAX);
        let written = NonZeroU32::new(written).filter(|_| !cut.usage.estimated);
        let used = budget.max(written)?;
        Some(used.saturating_mul(NonZeroU32::MIN.saturating_add(1)))
    }

    /// The budget of requests without their own, from the model's parameters, which are named as in the settings.
    fn set_budget(&self) -> Option<NonZeroU32> {
        let parameters = self.model.parameters();
        let set = parameters.get("max_tokens")?.as_u64()?;
        NonZeroU32::new(u32::try_from(set).unwrap_or(u32::MAX))
    }
}

#[cfg(test)]
mod tests {
    use evals_models::Message;

    use super::*;
    use crate::tests::fakes::{Scripted, ended};

    /// The budgets of the requests to a model whose own budget is `set` and that writes `written` tokens.
    async fn budgets(
        asked: Option<u32>,
        set: Option<u32>,
        written: u64,
        estimated: bool,
    ) -> Vec<Option<u32>> {
        let mut cut = ended("", Finish::Length);
        cut.usage.output_tokens = written;
        cut.usage.estimated = estimated;
        let model = Scripted::set_to(set, [cut.clone(), cut.clone(), cut]);
        let mut request = ChatRequest {
            max_tokens: asked.and_then(NonZeroU32::new),
            ..ChatRequest::new(vec![Message::user("?")])
        };
        let mut exchange = Exchange::new(&*model);
        for _ in 0..2 {
            exchange.ask_whole(&mut request).await.unwrap();
            if model.requests().len() == 3 {
                break;
            }
        }
        let requests = model.requests().into_iter();
        requests
            .map(|request| request.max_tokens.map(NonZeroU32::get))
            .collect()
    }

    #[tokio::test]
    async fn a_doubled_budget_never_shrinks() {
        // Some servers do not count the reasoning that used up the budget.
        let doubled = [Some(50), Some(100), Some(100)];
        assert_eq!(budgets(Some(50), None, 10, false).await, doubled);
        assert_eq!(budgets(Some(50), None, 10, true).await, doubled);
        assert_eq!(
            budgets(None, Some(4096), 10, false).await,
            [None, Some(8192), Some(8192)]
        );
        // Others exceed their budget.
        assert_eq!(
            budgets(Some(50), Some(4096), 60, false).await,
            [Some(50), Some(120), Some(120)]
        );
        assert_eq!(
            budgets(None, None, 60, false).await,
            [None, Some(120), Some(120)]
        );
    }

    #[tokio::test]
    async fn an_unknown_budget_is_not_doubled() {
        assert_eq!(budgets(None, None, 60, true).await, [None, None]);
        assert_eq!(budgets(None, None, 0, false).await, [None, None]);
    }
}
