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
            && let Some(budget) = self.doubled(request, &reply)
        {
            self.doubled = true;
            request.max_tokens = Some(budget);
            return self.ask(request).await;
        }
        Ok(reply)
    }

    /// Twice the budget that a cut reply used up: the one that was asked for or the model is set to, or what was written if
    /// that is more. Where none is known and the server did not count what it wrote, there is nothing to double.
    pub(crate) fn doubled(&self, request: &ChatRequest, cut: &ChatReply) -> Option<NonZeroU32> {
        let budget = request.max_tokens.or_else(|| self.set_budget());
        let written = u32::try_from(cut.usage.output_tokens).unwrap_or(u32::MAX);
        let written = NonZeroU32::new(written).filter(|_| !cut.usage.estimated);
        let used = budget.max(written)?;
        Some(used.saturating_mul(NonZeroU32::MIN.saturating_add(1)))
    }

    /// The budget of requests that name none. The model's parameters have the names of its settings.
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
    use crate::fakes::{Scripted, ended};

    /// The budgets that a model is asked for that is set to one of `set` tokens and writes `written`.
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
    async fn an_escalation_never_asks_for_less() {
        // Some servers leave the reasoning that used up the budget out of what they count.
        let doubled = [Some(50), Some(100), Some(100)];
        assert_eq!(budgets(Some(50), None, 10, false).await, doubled);
        assert_eq!(budgets(Some(50), None, 10, true).await, doubled);
        assert_eq!(
            budgets(None, Some(4096), 10, false).await,
            [None, Some(8192), Some(8192)]
        );
        // Others write more than they were allowed to.
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
    async fn without_a_known_budget_there_is_no_escalation() {
        assert_eq!(budgets(None, None, 60, true).await, [None, None]);
        assert_eq!(budgets(None, None, 0, false).await, [None, None]);
    }
}
