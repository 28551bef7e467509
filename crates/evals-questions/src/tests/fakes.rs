//! Scripted models, and a search without an index.

use std::collections::BTreeSet;
use std::sync::Mutex;
use std::time::Duration;

use async_trait::async_trait;
use evals_models::{
    ChatError, ChatModel, ChatReply, ChatRequest, Failure, Finish, ModelIdentity, Served, Usage,
};
use evals_rag::judging::{Judge, JudgeError, Judged, Verdict};
use evals_rag::{Document, Passage, Retrieved, SearchError, Searcher};
use serde_json::{Map, Value};

/// A model whose replies a function of the prompt and of the number of messages decides.
pub(super) struct Script<F> {
    identity: ModelIdentity,
    reply: F,
    requests: Mutex<Vec<ChatRequest>>,
}

impl<F: Fn(&str, usize) -> Result<Value, Failure>> Script<F> {
    pub(super) fn new(reply: F) -> Self {
        Self {
            identity: ModelIdentity::new("test", "script"),
            reply,
            requests: Mutex::default(),
        }
    }

    /// The requests, in an order that does not depend on chance.
    pub(super) fn requests(&self) -> Vec<String> {
        let requests = self.requests.lock().unwrap();
        let mut requests: Vec<String> = requests.iter().map(|it| format!("{it:?}")).collect();
        requests.sort();
        requests
    }
}

impl<F> std::fmt::Debug for Script<F> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Script")
    }
}

#[async_trait]
impl<F: Fn(&str, usize) -> Result<Value, Failure> + Send + Sync> ChatModel for Script<F> {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn parameters(&self) -> Map<String, Value> {
        Map::new()
    }

    async fn chat(&self, request: &ChatRequest) -> Result<ChatReply, ChatError> {
        self.requests.lock().unwrap().push(request.clone());
        tokio::task::yield_now().await;
        let prompt = &request.messages[0].content;
        let reply = (self.reply)(prompt, request.messages.len());
        let reply = reply.map_err(|failure| ChatError {
            model: self.identity.clone(),
            failure,
            source: "the server is away".into(),
        })?;
        let (_, id) = prompt.rsplit_once(r#""id": ""#).unwrap();
        let text = match reply {
            Value::String(prose) => prose,
            object => object.to_string().replace("ID", &id[..16]),
        };
        Ok(ChatReply {
            text,
            tool_calls: Vec::new(),
            reasoning: None,
            finish: Finish::Stop,
            usage: Usage::default(),
            served: Served {
                service_time: Duration::from_millis(1),
                attempts: 1,
                cached: false,
                batched: false,
            },
        })
    }
}

/// Passes equal answers.
#[derive(Debug)]
pub(super) struct EqualAnswers(pub(super) ModelIdentity);

#[async_trait]
impl Judge for EqualAnswers {
    fn identity(&self) -> &ModelIdentity {
        &self.0
    }

    async fn judge(&self, judged: Judged<'_>) -> Result<Verdict, JudgeError> {
        Ok(Verdict {
            pass: judged.answer == judged.reference,
            reason: String::new(),
            calls: Vec::new(),
            votes: Vec::new(),
        })
    }
}

/// Finds the documents that share most words with the question.
#[derive(Debug)]
pub(super) struct SharedWords<'c>(pub(super) &'c [Document]);

#[async_trait]
impl Searcher for SharedWords<'_> {
    fn profile(&self) -> &'static str {
        "shared words"
    }

    async fn search(&self, question: &str, k: usize) -> Result<Retrieved, SearchError> {
        let words: BTreeSet<&str> = question.split_whitespace().collect();
        let shared = |it: &&Document| {
            let found = it.text.split_whitespace().filter(|it| words.contains(it));
            std::cmp::Reverse(found.collect::<BTreeSet<_>>().len())
        };
        let mut best: Vec<&Document> = self.0.iter().collect();
        best.sort_by_key(shared);
        let passages = best.into_iter().take(k).map(|it| Passage {
            document: it.uri.clone(),
            title: None,
            ordinal: 0,
            text: it.text.clone(),
            score: 1.0,
        });
        Ok(Retrieved {
            passages: passages.collect(),
            ..Retrieved::default()
        })
    }
}
