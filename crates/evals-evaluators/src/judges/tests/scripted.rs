//! A chat model for tests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use evals_models::{
    ChatError, ChatModel, ChatReply, ChatRequest, Failure, Finish, ModelIdentity, Served, Usage,
};
use serde_json::{Map, Value};

use crate::{BuildError, ChatModels, WantedModel};

/// A chat model that gives prepared replies in turn, then fails, and keeps the requests. In a reply, `NONCE` stands for the nonce
/// of the prompt.
#[derive(Debug)]
pub(super) struct Scripted {
    identity: ModelIdentity,
    replies: Mutex<VecDeque<String>>,
    failure: Failure,
    requests: Mutex<Vec<ChatRequest>>,
    wanted: Mutex<Vec<WantedModel>>,
}

impl Scripted {
    pub(super) fn new<'r>(replies: impl IntoIterator<Item = &'r str>) -> Arc<Self> {
        Self::then_failing(replies, Failure::Transient)
    }

    pub(super) fn then_failing<'r>(
        replies: impl IntoIterator<Item = &'r str>,
        failure: Failure,
    ) -> Arc<Self> {
        let replies = replies.into_iter().map(str::to_owned);
        Arc::new(Self {
            identity: ModelIdentity::new("test", "scripted"),
            replies: Mutex::new(replies.collect()),
            failure,
            requests: Mutex::default(),
            wanted: Mutex::default(),
        })
    }

    pub(super) fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap().clone()
    }

    /// How it was asked for.
    pub(super) fn wanted(&self) -> Vec<WantedModel> {
        self.wanted.lock().unwrap().clone()
    }

    /// The first message of the first request.
    pub(super) fn prompt(&self) -> String {
        self.requests()[0].messages[0].content.clone()
    }
}

/// The nonce of a prompt.
pub(super) fn nonce(prompt: &str) -> &str {
    let (_, after) = prompt
        .split_once("<output-")
        .expect("a prompt shows the output");
    &after[..16]
}

#[async_trait]
impl ChatModel for Scripted {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn parameters(&self) -> Map<String, Value> {
        Map::new()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.requests.lock().unwrap().push(request.clone());
        let reply = self.replies.lock().unwrap().pop_front();
        let reply = reply.ok_or_else(|| ChatError {
            model: self.identity.clone(),
            failure: self.failure,
            source: "the server is away".into(),
        })?;
        Ok(ChatReply {
            text: reply.replace("NONCE", nonce(&request.messages[0].content)),
            tool_calls: Vec::new(),
            reasoning: None,
            finish: Finish::Stop,
            usage: Usage {
                input_tokens: 100,
                output_tokens: 10,
                estimated: false,
            },
            served: Served {
                service_time: Duration::from_secs(2),
                attempts: 1,
                cached: false,
                batched: false,
            },
        })
    }
}

/// Hands out one model under every name but `missing`.
#[derive(Debug)]
pub(super) struct Only(pub(super) Arc<Scripted>);

impl ChatModels for Only {
    fn chat(&self, wanted: &WantedModel) -> Result<Arc<dyn ChatModel>, BuildError> {
        if wanted.name.as_deref() == Some("missing") {
            return Err("no provider is called `missing`".into());
        }
        self.0.wanted.lock().unwrap().push(wanted.clone());
        Ok(Arc::clone(&self.0) as _)
    }
}
