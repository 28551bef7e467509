//! A scripted chat model, and a folder for each test.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::{Map, Value, json};
use tokio::sync::Semaphore;

use evals_models::{
    ChatError, ChatModel, ChatReply, ChatRequest, Failure, Finish, Message, ModelIdentity, Served,
    ToolCall, Usage,
};

/// A model that repeats one text, counts how often it was asked, and can be made to hang and to fail.
#[derive(Debug)]
pub(in crate::replies) struct Scripted {
    identity: ModelIdentity,
    parameters: Map<String, Value>,
    text: String,
    tool_calls: Vec<ToolCall>,
    finish: Finish,
    /// Whether it finds its reply in the store.
    finds: bool,
    failures: AtomicUsize,
    asked: AtomicUsize,
    /// A permit for each call that may go on.
    gate: Semaphore,
}

impl Scripted {
    pub(in crate::replies) fn answering(text: &str) -> Self {
        let mut parameters = Map::new();
        parameters.insert("temperature".to_owned(), json!(0.25));
        parameters.insert("base_url".to_owned(), json!("http://localhost:1/"));
        Self {
            identity: ModelIdentity::new("scripted", "parrot"),
            parameters,
            text: text.to_owned(),
            tool_calls: Vec::new(),
            finish: Finish::Length,
            finds: false,
            failures: AtomicUsize::new(0),
            asked: AtomicUsize::new(0),
            gate: Semaphore::new(Semaphore::MAX_PERMITS),
        }
    }

    pub(in crate::replies) fn with_parameter(mut self, name: &str, value: Value) -> Self {
        self.parameters.insert(name.to_owned(), value);
        self
    }

    /// Ends each reply for this reason.
    pub(in crate::replies) fn ending(self, finish: Finish) -> Self {
        Self { finish, ..self }
    }

    /// Finds its reply in the store, where another process put it while the request waited.
    pub(in crate::replies) fn finding(self) -> Self {
        Self {
            finds: true,
            ..self
        }
    }

    /// Calls a tool in each reply.
    pub(in crate::replies) fn calling(self, call: ToolCall) -> Self {
        Self {
            tool_calls: vec![call],
            ..self
        }
    }

    /// Fails so many times before it answers.
    pub(in crate::replies) fn failing(self, times: usize) -> Self {
        Self {
            failures: AtomicUsize::new(times),
            ..self
        }
    }

    /// Hangs until it is let go.
    pub(in crate::replies) fn hanging(self) -> Self {
        Self {
            gate: Semaphore::new(0),
            ..self
        }
    }

    pub(in crate::replies) fn let_go(&self, calls: usize) {
        self.gate.add_permits(calls);
    }

    pub(in crate::replies) fn asked(&self) -> usize {
        self.asked.load(Ordering::SeqCst)
    }
}

#[async_trait]
impl ChatModel for Scripted {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn parameters(&self) -> Map<String, Value> {
        self.parameters.clone()
    }

    async fn chat(&self, _request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        self.gate.acquire().await.unwrap().forget();
        let fails = |left: usize| left.checked_sub(1);
        if self
            .failures
            .fetch_update(Ordering::SeqCst, Ordering::SeqCst, fails)
            .is_ok()
        {
            return Err(ChatError {
                model: self.identity.clone(),
                failure: Failure::Transient,
                source: "connection reset".into(),
            });
        }
        let mut reply = ChatReply {
            finish: self.finish.clone(),
            tool_calls: self.tool_calls.clone(),
            ..reply(&self.text)
        };
        reply.served.cached = self.finds;
        Ok(reply)
    }
}

pub(in crate::replies) fn reply(text: &str) -> ChatReply {
    ChatReply {
        text: text.to_owned(),
        tool_calls: Vec::new(),
        reasoning: None,
        finish: Finish::Length,
        usage: Usage {
            input_tokens: 812,
            output_tokens: 64,
            estimated: true,
        },
        served: Served {
            service_time: Duration::from_micros(1_234_567),
            attempts: 3,
            cached: false,
            batched: false,
        },
    }
}

pub(in crate::replies) fn request(text: &str) -> ChatRequest {
    ChatRequest::new(vec![Message::user(text)])
}

/// A folder for one test, removed at its end.
#[derive(Debug)]
pub(in crate::replies) struct Folder(PathBuf);

impl Folder {
    pub(in crate::replies) fn new() -> Self {
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("evals-replies-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    /// The file of replies in it.
    pub(in crate::replies) fn file(&self) -> PathBuf {
        self.0.join("replies.sqlite")
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        drop(std::fs::remove_dir_all(&self.0));
    }
}
