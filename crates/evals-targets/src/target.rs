//! The trait of targets, their requests, how reports name them, and why one gave no usable reply.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::{self, Debug};
use std::sync::Arc;

use async_trait::async_trait;
use evals::{FailureClass, TaskError};
use evals_models::{Failure, Message};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::Reply;

/// A system under test.
#[async_trait]
pub trait Target: Debug + Send + Sync {
    /// The identity of the system under test, as reports and manifests name it.
    fn identity(&self) -> &TargetIdentity;

    /// Asks one question. Several are asked at the same time, at most as many as the run's concurrency.
    async fn ask(&self, request: &Request) -> Result<Reply, TargetError>;

    /// Warnings for the user before a run of these cases: for a file of replies, ids that are missing or that no case has. None by
    /// default.
    fn warnings(&self, _cases: &BTreeSet<&str>) -> Vec<String> {
        Vec::new()
    }

    /// Ends everything that the target started, such as processes. No request follows. Dropping a target has the same effect, but
    /// waits for nothing.
    async fn close(&self) {}
}

/// The identity of a system under test.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TargetIdentity {
    /// The kind of target: `http`, `exec`, `chat`, `postgres`, `outputs`, `trec`, `lancedb` or `fn`.
    pub kind: String,
    /// The target as the user named it, without credentials.
    pub name: String,
    /// The version that the user gave with `--target-version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Everything else that its replies depend on, such as templates and the digest of a file of outputs. It becomes part of a
    /// run's manifest, so it holds no credentials: a header's value is written as `${NAME}`.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub parameters: Map<String, Value>,
}

/// As users name targets, followed by the version: `exec:python my_rag.py @2.1`.
impl fmt::Display for TargetIdentity {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = format!("{}:", self.kind);
        // A service's name is its address.
        let is_whole = self.kind == "http" || self.name.starts_with(&scheme);
        let scheme = if is_whole { "" } else { &scheme };
        write!(formatter, "{scheme}{}", self.name)?;
        match &self.version {
            Some(version) => write!(formatter, " @{version}"),
            None => Ok(()),
        }
    }
}

impl TargetIdentity {
    /// Whether the replies come out of a file, so that nobody is asked and nothing is paid.
    pub fn is_file(&self) -> bool {
        matches!(self.kind.as_str(), "outputs" | "trec")
    }

    /// A target of this kind and name, without a version and parameters.
    pub fn new(kind: impl Into<String>, name: impl Into<String>) -> Self {
        Self {
            kind: kind.into(),
            name: name.into(),
            version: None,
            parameters: Map::new(),
        }
    }
}

/// Why a target gave no usable reply.
#[derive(Debug)]
pub struct TargetError {
    error: Box<dyn Error + Send + Sync>,
    class: FailureClass,
}

impl TargetError {
    /// Wraps an error.
    ///
    /// [`Terminal`](FailureClass::Terminal) ends the run, because every other case would meet the same error; a later run asks
    /// again after [`Transient`](FailureClass::Transient).
    pub fn new(class: FailureClass, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self {
            error: error.into(),
            class,
        }
    }

    /// Wraps the failure of a call to a server.
    pub fn of_call(failure: Failure, error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        let class = match failure {
            Failure::Transient => FailureClass::Transient,
            Failure::Terminal => FailureClass::Terminal,
            Failure::Content => FailureClass::Content,
        };
        Self::new(class, error)
    }

    /// The consequence of the error for other cases.
    pub fn class(&self) -> FailureClass {
        self.class
    }

    /// The error of the task that asked.
    pub fn into_task_error(self) -> TaskError {
        TaskError::new(self.error).classed(self.class)
    }
}

impl fmt::Display for TargetError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.error, formatter)
    }
}

impl Error for TargetError {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.error.source()
    }
}

/// One question to a target.
#[derive(Clone, Debug, PartialEq)]
pub struct Request {
    /// The id of the case, unique within a run.
    pub id: String,
    /// Which repetition of the case this is, from 1.
    pub repeat: u32,
    /// The question, or other inputs.
    pub inputs: Inputs,
    /// How many documents the measures look at, as a hint; `None` if nothing depends on it. Templates can name it; no target has
    /// to return as many.
    pub k: Option<usize>,
    /// The question's vector, which [`EmbeddingTarget`](crate::EmbeddingTarget) adds for targets whose templates use it.
    pub vector: Option<Arc<[f32]>>,
    /// The conversation that a question is part of; `None` if it is alone.
    pub conversation: Option<Conversation>,
}

/// The conversation that a question is part of.
#[derive(Clone, Debug, PartialEq)]
pub struct Conversation {
    /// Its id, the same for all questions of one conversation and one repetition.
    pub id: String,
    /// The messages before the question, the oldest first.
    pub history: Vec<Message>,
    /// Whether the target remembers the history by the id, and is not sent it.
    pub is_session: bool,
    /// The [process](Reply::process) that gave the reply before. Another one remembers nothing, and is not asked.
    pub process: Option<String>,
}

/// The inputs of a request.
#[derive(Clone, Debug, PartialEq)]
pub enum Inputs {
    /// A benchmark's question. Targets are sent `{"id": …, "question": …}`.
    Question(String),
    /// The `inputs` of a dataset file's case. A service is sent them as they are; a command is sent `{"id": …, "inputs": …}`.
    Value(Value),
}

impl Request {
    /// The question: that of a benchmark, or the inputs of a dataset file's case if they are a text or have a text `question`.
    pub fn question_text(&self) -> Option<&str> {
        match &self.inputs {
            Inputs::Question(question) => Some(question),
            Inputs::Value(inputs) => inputs.as_str().or_else(|| inputs.get("question")?.as_str()),
        }
    }

    /// The first repetition of a benchmark's question.
    pub fn question(id: impl Into<String>, question: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            repeat: 1,
            inputs: Inputs::Question(question.into()),
            k: None,
            vector: None,
            conversation: None,
        }
    }

    /// The first repetition of a dataset file's case.
    pub fn inputs(id: impl Into<String>, inputs: Value) -> Self {
        Self {
            id: id.into(),
            repeat: 1,
            inputs: Inputs::Value(inputs),
            k: None,
            vector: None,
            conversation: None,
        }
    }

    /// The messages of the conversation that the target is sent, of which the question is the last. A question alone is the only one. `None`
    /// for the inputs of a dataset file's case.
    pub fn messages(&self) -> Option<Vec<Message>> {
        let Inputs::Question(question) = &self.inputs else {
            return None;
        };
        Some(self.history().chain([Message::user(question)]).collect())
    }

    /// The messages before the question that the target is sent.
    pub(crate) fn history(&self) -> impl Iterator<Item = Message> {
        let sent = self.conversation.iter().filter(|it| !it.is_session);
        sent.flat_map(|it| it.history.iter().cloned())
    }

    /// What a request of the usual form says about the conversation: `conversation`, and `messages` unless the target remembers them.
    pub(crate) fn spoken(&self) -> Map<String, Value> {
        let mut spoken = Map::new();
        if let Some(conversation) = &self.conversation {
            spoken.insert("conversation".to_owned(), conversation.id.clone().into());
            if !conversation.is_session {
                spoken.insert("messages".to_owned(), json!(self.messages()));
            }
        }
        spoken
    }
}
