//! A request that waits for its reply, and what the end of its batch means for it.

use std::sync::Arc;

use evals_models::{ChatError, ChatReply, ChatRequest, Failure, Served};
use serde_json::{Value, json};
use tokio::sync::oneshot;

use super::endpoint::explained;
use super::output::{BatchState, DescribedBatch, OutputLine};
use crate::chat::raw_reply;
use crate::openai::chat::OpenAiChat;
use crate::openai::dialect::Dialect;
use crate::traffic::AttemptError;

/// In how many batches a request may meet a temporary failure.
const ATTEMPTS: usize = 3;
/// In how many batches a request may expire, and in how many its line may be missing.
const PATIENCE: usize = 2;

/// What the end of a batch means for one of its requests. `None` if it goes into another batch.
pub(super) type Fate = Result<Option<ChatReply>, AttemptError>;

/// The result of a request. `None` if the caller has to send it directly.
pub(super) type Answer = Result<Option<ChatReply>, ChatError>;

/// A request that waits for its reply.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) request: Arc<ChatRequest>,
    pub(super) callers: Vec<oneshot::Sender<Answer>>,
    /// The dialect of the batch that it is in.
    pub(super) sent: Option<Dialect>,
    /// How the batches ended for it that brought no reply.
    ends: Vec<BatchEnd>,
}

/// Why a batch brought no reply to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BatchEnd {
    Expired,
    Missing,
    Failed,
}

impl Waiting {
    pub(super) fn new(request: Arc<ChatRequest>) -> Self {
        Self {
            request,
            callers: Vec::new(),
            sent: None,
            ends: Vec::new(),
        }
    }

    /// Hands a reply to the callers; without one, they have to send the request directly.
    pub(super) fn end(self, answer: impl Fn() -> Answer) {
        for caller in self.callers {
            // A caller that has given up needs no reply.
            let _ = caller.send(answer());
        }
    }

    /// What the end of `batch` means for this request, which has this line in the output. `submits` says whether there may be another batch.
    pub(super) fn fate(
        &mut self,
        line: Option<&OutputLine>,
        batch: &DescribedBatch,
        chat: &OpenAiChat,
        submits: bool,
    ) -> Fate {
        let state = match line {
            Some(OutputLine {
                response: Some(response),
                ..
            }) => {
                let dialect = self.sent.clone().unwrap_or_else(|| chat.dialect());
                let (status, body) = (response.status_code, &response.body);
                return match chat.read_in_batch(status, body, &self.request, &dialect) {
                    Ok(reply) => Ok(reply.map(|reply| self.batched(reply))),
                    Err(error) => self.failed(error),
                };
            }
            Some(line) => match line.error.get("code").and_then(Value::as_str) {
                Some("batch_expired") => BatchState::Expired,
                Some("batch_cancelled") => BatchState::Cancelled,
                _ => {
                    let error = json!({"error": line.error});
                    return self.failed(chat.server.refused_inside(&error));
                }
            },
            None => batch.state,
        };
        let (failure, what, how) = match state {
            BatchState::Cancelled if !submits => return Ok(None),
            BatchState::Cancelled => (
                Failure::Terminal,
                "was cancelled before this request was answered",
                "submit the rest",
            ),
            BatchState::Expired if self.may_try_again(BatchEnd::Expired) => return Ok(None),
            BatchState::Expired => (
                Failure::Terminal,
                "expired before this request was answered, as the one before did",
                "submit the rest, or without `--batch` to ask directly",
            ),
            _ if self.may_try_again(BatchEnd::Missing) => return Ok(None),
            BatchState::Completed | BatchState::Failed | BatchState::UnderWay => (
                Failure::Transient,
                "ended without an answer to this request, as the one before did",
                "ask again",
            ),
        };
        let text = format!(
            "the batch `{}` {what}; run the same command again to {how}",
            batch.id
        );
        Err(AttemptError::new(failure, text))
    }

    fn batched(&self, reply: ChatReply) -> ChatReply {
        let attempts = u32::try_from(self.ends.len()).unwrap_or(u32::MAX);
        let served = Served {
            attempts: attempts.saturating_add(1),
            batched: true,
            ..raw_reply::DIRECT
        };
        ChatReply { served, ..reply }
    }

    /// Notes how a batch ended, and says whether another one may help.
    fn may_try_again(&mut self, end: BatchEnd) -> bool {
        self.ends.push(end);
        let most = match end {
            BatchEnd::Failed => ATTEMPTS,
            BatchEnd::Expired | BatchEnd::Missing => PATIENCE,
        };
        self.ends.iter().filter(|earlier| **earlier == end).count() < most
    }

    fn failed(&mut self, error: AttemptError) -> Fate {
        if error.failure != Failure::Transient {
            return Err(error);
        }
        if self.may_try_again(BatchEnd::Failed) {
            return Ok(None);
        }
        let text = format!("the request failed in {ATTEMPTS} batches");
        Err(explained(Failure::Transient, text, error.source))
    }
}
