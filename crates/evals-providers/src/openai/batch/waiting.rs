//! A request that waits for its reply, and its callers.

use std::sync::Arc;

use evals_models::{ChatError, ChatReply, ChatRequest, Failure, ModelIdentity, Served};
use tokio::sync::oneshot;

use crate::chat::RawReply;
use crate::openai::dialect::Dialect;
use crate::traffic::Refused;

/// The result of a request. `None` if the caller has to send it directly.
pub(super) type Answer = Result<Option<ChatReply>, ChatError>;

/// A request that waits for its reply.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) request: Arc<ChatRequest>,
    callers: Vec<oneshot::Sender<Answer>>,
    /// The dialect of the batch that it is in.
    pub(super) sent: Option<Dialect>,
    pub(super) rounds: Rounds,
}

/// In how many batches a request found which end.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rounds {
    pub(super) expired: u32,
    pub(super) missing: u32,
    pub(super) failed: u32,
    pub(super) all: u32,
}

/// A failure that several requests share.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    pub(super) failure: Failure,
    pub(super) source: Refused,
}

impl Cause {
    pub(super) fn new(
        failure: Failure,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self {
            failure,
            source: Refused::new(source.into()),
        }
    }
}

impl Waiting {
    pub(super) fn new(request: Arc<ChatRequest>, caller: oneshot::Sender<Answer>) -> Self {
        Self {
            request,
            callers: vec![caller],
            sent: None,
            rounds: Rounds::default(),
        }
    }

    pub(super) fn add(&mut self, caller: oneshot::Sender<Answer>) {
        self.callers.push(caller);
    }

    /// Whether every caller has given up.
    pub(super) fn is_abandoned(&self) -> bool {
        self.callers.iter().all(oneshot::Sender::is_closed)
    }

    /// Hands a reply of a batch to the callers.
    pub(super) fn reply(self, reply: RawReply) {
        let reply = ChatReply {
            text: reply.text,
            tool_calls: reply.tool_calls,
            reasoning: reply.reasoning,
            finish: reply.finish,
            usage: reply.usage,
            served: Served {
                service_time: std::time::Duration::ZERO,
                attempts: self.rounds.all.max(1),
                cached: false,
                batched: true,
            },
        };
        self.deliver(&reply);
    }

    /// Hands a reply to the callers.
    pub(super) fn deliver(self, reply: &ChatReply) {
        for caller in self.callers {
            // A caller that has given up needs no reply.
            let _ = caller.send(Ok(Some(reply.clone())));
        }
    }

    /// Has the callers send the request directly.
    pub(super) fn send_directly(self) {
        for caller in self.callers {
            let _ = caller.send(Ok(None));
        }
    }

    /// Hands a failure to the callers.
    pub(super) fn fail(self, model: &ModelIdentity, cause: &Cause) {
        for caller in self.callers {
            let _ = caller.send(Err(ChatError {
                model: model.clone(),
                failure: cause.failure,
                source: Box::new(cause.source.clone()),
            }));
        }
    }
}
