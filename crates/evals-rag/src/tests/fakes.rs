//! Fake models and searchers for this crate's tests.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use evals_metrics::{Ranking, ScoredDocument};
use evals_models::{
    ChatError, ChatModel, ChatReply, ChatRequest, EmbedError, Embedder, Embeddings, Failure,
    Finish, ModelIdentity, Served, TextKind, Usage,
};
use serde_json::{Map, Value};

use crate::{Passage, Retrieved, SearchError, Searcher, StageTiming};

/// A chat model that gives prepared replies in turn and records the requests.
#[derive(Debug)]
pub(crate) struct Scripted {
    identity: ModelIdentity,
    replies: Mutex<VecDeque<ChatReply>>,
    failure: Option<Failure>,
    parameters: Map<String, Value>,
    requests: Mutex<Vec<ChatRequest>>,
}

impl Scripted {
    /// The model panics when its replies are used up.
    pub(crate) fn new(replies: impl IntoIterator<Item = ChatReply>) -> Arc<Self> {
        Self::of(replies.into_iter().collect(), None, Map::new())
    }

    /// The same, with a token budget for requests without their own.
    pub(crate) fn set_to(
        max_tokens: Option<u32>,
        replies: impl IntoIterator<Item = ChatReply>,
    ) -> Arc<Self> {
        let budget = max_tokens.map(|budget| ("max_tokens".to_owned(), Value::from(budget)));
        let parameters = budget.into_iter().collect();
        Self::of(replies.into_iter().collect(), None, parameters)
    }

    pub(crate) fn failing(failure: Failure) -> Arc<Self> {
        Self::of(VecDeque::new(), Some(failure), Map::new())
    }

    fn of(
        replies: VecDeque<ChatReply>,
        failure: Option<Failure>,
        parameters: Map<String, Value>,
    ) -> Arc<Self> {
        Arc::new(Self {
            identity: ModelIdentity::new("test", "scripted"),
            replies: Mutex::new(replies),
            failure,
            parameters,
            requests: Mutex::default(),
        })
    }

    pub(crate) fn requests(&self) -> Vec<ChatRequest> {
        self.requests.lock().unwrap().clone()
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

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.requests.lock().unwrap().push(request.clone());
        let reply = self.replies.lock().unwrap().pop_front();
        reply.ok_or_else(|| ChatError {
            model: self.identity.clone(),
            failure: self.failure.expect("there are enough prepared replies"),
            source: "the server is away".into(),
        })
    }
}

/// A reply of 100 input tokens, 10 output tokens and 2 seconds.
pub(crate) fn said(text: &str) -> ChatReply {
    ended(text, Finish::Stop)
}

pub(crate) fn ended(text: &str, finish: Finish) -> ChatReply {
    ChatReply {
        text: text.to_owned(),
        tool_calls: Vec::new(),
        reasoning: None,
        finish,
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
    }
}

pub(crate) fn passage(document: &str, text: &str) -> Passage {
    Passage {
        document: document.to_owned(),
        title: None,
        ordinal: 0,
        text: text.to_owned(),
        score: 1.0,
    }
}

/// Finds the same passages for every question.
#[derive(Debug)]
pub(crate) struct FoundPassages(pub(crate) Vec<Passage>);

#[async_trait]
impl Searcher for FoundPassages {
    fn profile(&self) -> &'static str {
        "found"
    }

    async fn search(&self, _question: &str, _k: usize) -> Result<Retrieved, SearchError> {
        let mut documents: Vec<&str> = Vec::new();
        for passage in &self.0 {
            if !documents.contains(&passage.document.as_str()) {
                documents.push(&passage.document);
            }
        }
        let ranking = documents.iter().rev().zip(1_u8..);
        let ranking = ranking.map(|(document, score)| ScoredDocument {
            id: (*document).to_owned(),
            score: f32::from(score),
        });
        Ok(Retrieved {
            ranking: Ranking::new(ranking).map_err(SearchError::new)?,
            passages: self.0.clone(),
            timings: vec![StageTiming {
                stage: "bm25".to_owned(),
                duration: Duration::from_millis(5),
                cached: true,
            }],
            ..Retrieved::default()
        })
    }
}

/// Embeds a text by whether it has the letters `x`, `y` and `z`, and records its queries.
#[derive(Debug)]
pub(crate) struct Letters {
    identity: ModelIdentity,
    queries: Mutex<Vec<String>>,
}

impl Letters {
    pub(crate) fn new() -> Arc<Self> {
        Self::of(ModelIdentity::new("test", "letters"))
    }

    pub(crate) fn with_digest(digest: &str) -> Arc<Self> {
        Self::of(ModelIdentity::new("test", "letters").with_digest(digest))
    }

    fn of(identity: ModelIdentity) -> Arc<Self> {
        let queries = Mutex::default();
        Arc::new(Self { identity, queries })
    }

    /// The queries so far.
    pub(crate) fn queries(&self) -> Vec<String> {
        self.queries.lock().unwrap().clone()
    }
}

#[async_trait]
impl Embedder for Letters {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        4
    }

    fn max_tokens(&self) -> Option<usize> {
        None
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        if kind == TextKind::Query {
            let texts = texts.iter().map(ToString::to_string);
            self.queries.lock().unwrap().extend(texts);
        }
        let row = |text: &&str| {
            let has = ["x", "y", "z"].map(|letter| f32::from(u8::from(text.contains(letter))));
            let none = f32::from(u8::from(has.iter().all(|has| *has == 0.0)));
            [has[0], has[1], has[2], none]
        };
        Ok(Embeddings::new(4, texts.iter().flat_map(row).collect())?)
    }
}
