//! Embedding models that Ollama runs.

use std::ops::Range;
use std::sync::Arc;

use async_trait::async_trait;
use ollama_rs::generation::embeddings::request::{EmbeddingsInput, GenerateEmbeddingsRequest};
use ollama_rs::models::ModelOptions;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::catalog;
use super::request::KeepAlive;
use crate::embedding::{Embedding, Endpoint};
use crate::server::{ConnectError, Expected, Protocol, Server};
use crate::settings::extra_body::{self, Extended};
use crate::settings::{Dimension, EmbedSettings};
use crate::tokens::TokensRead;
use crate::traffic::{AttemptError, Lane, Traffic};
use evals_models::{EmbedError, Embedder, Embeddings, ModelIdentity, TextKind};

/// Fields that `extra_body` may not set, because the program fills them and could not read the answers to other values.
const RESERVED: [&str; 4] = ["input", "model", "truncate", "dimensions"];

/// The most tokens that a model is loaded for where the settings do not say. Ollama's default may be less than the model reads,
/// and the model's own limit may need more memory than there is.
const LARGEST_WINDOW: u64 = 8_192;

/// An embedding model in Ollama.
///
/// The server has to refuse a text that is longer than the model reads, which Ollama would cut silently. The beginning of such a
/// text is embedded, and the text is counted as cut.
#[derive(Debug)]
pub struct OllamaEmbedder {
    embedding: Embedding<OllamaEndpoint>,
    max_tokens: Option<usize>,
}

#[derive(Debug)]
struct OllamaEndpoint {
    server: Server,
    /// How many tokens the model is loaded for.
    window: Option<u64>,
    dimensions: Option<u32>,
    keep_alive: Option<String>,
    extra_body: Map<String, Value>,
    tokens_read: TokensRead,
}

/// The request of `ollama-rs`, beside the field that its type cannot hold.
#[derive(Debug, Serialize)]
struct Request<'a> {
    #[serde(flatten)]
    typed: GenerateEmbeddingsRequest,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_alive: Option<KeepAlive<'a>>,
}

/// The server's answer. Any field may be missing.
#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(default)]
    embeddings: Vec<Vec<f32>>,
    #[serde(default)]
    prompt_eval_count: Option<u64>,
    #[serde(default)]
    error: Value,
}

impl OllamaEmbedder {
    /// Asks the server for the model's digest and context length, and embeds one word to learn the dimension of its vectors.
    ///
    /// Fails with advice where no server answers or the server does not have the model.
    pub async fn connect(
        settings: EmbedSettings,
        traffic: Arc<Traffic>,
    ) -> Result<Self, ConnectError> {
        extra_body::check(&settings.extra_body, &RESERVED)?;
        let server = Server::new(Protocol::Ollama, settings.server.clone(), &settings.model)?
            .with_fields(&settings.extra_body);
        let mut identity = server.identity();
        let lane = Lane::new(traffic, &settings.server, &settings.model);
        let facts = catalog::look_up(&server, &lane)
            .await
            .map_err(|error| ConnectError::from_attempt(&identity, error))?;
        identity.digest = facts.digest;
        let reads = facts.context_length.map(|reads| reads.min(LARGEST_WINDOW));
        let set = settings.max_tokens.map(|set| set.get() as u64);
        let window = set.or(reads);
        let endpoint = OllamaEndpoint {
            server,
            window,
            dimensions: match settings.dimension {
                Dimension::Request(dimension) => Some(dimension.get()),
                Dimension::Learn | Dimension::Expect(_) => None,
            },
            keep_alive: settings.keep_alive.clone(),
            extra_body: settings.extra_body.clone(),
            tokens_read: TokensRead::default(),
        };
        let max_tokens = window.and_then(|window| usize::try_from(window).ok());
        Ok(Self {
            embedding: Embedding::probe(endpoint, identity, settings, lane, max_tokens).await?,
            max_tokens,
        })
    }
}

impl OllamaEndpoint {
    fn body(&self, texts: &[String]) -> Extended<'_, Request<'_>> {
        let input = EmbeddingsInput::Multiple(texts.to_vec());
        let mut typed =
            GenerateEmbeddingsRequest::new(self.server.model().to_owned(), input).truncate(false);
        if let Some(window) = self.window {
            typed = typed.options(ModelOptions::default().num_ctx(window));
        }
        if let Some(dimensions) = self.dimensions {
            typed = typed.dimensions(dimensions);
        }
        Extended {
            request: Request {
                typed,
                keep_alive: self.keep_alive.as_deref().map(KeepAlive::parse),
            },
            extra_body: &self.extra_body,
        }
    }
}

impl Endpoint for OllamaEndpoint {
    const REFUSES_LONG: bool = true;

    async fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, AttemptError> {
        let body = self.body(texts);
        let expected = Expected::embeddings(texts.len());
        let answer = self.server.post("/api/embed", &body, expected).await?;
        let answer: Answer = self.server.parse(expected, &answer)?;
        if !answer.error.is_null() {
            let error = serde_json::json!({"error": answer.error});
            return Err(self.server.refused_inside(&error));
        }
        self.tokens_read.add(answer.prompt_eval_count);
        Ok(answer.embeddings)
    }

    fn tokens_read(&self) -> &TokensRead {
        &self.tokens_read
    }
}

#[async_trait]
impl Embedder for OllamaEmbedder {
    fn identity(&self) -> &ModelIdentity {
        self.embedding.identity()
    }

    fn dimension(&self) -> usize {
        self.embedding.dimension()
    }

    fn input_tokens(&self) -> Option<u64> {
        self.embedding.input_tokens()
    }

    fn notes(&self) -> Vec<String> {
        self.embedding.notes()
    }

    fn max_tokens(&self) -> Option<usize> {
        self.max_tokens
    }

    fn batches(&self, texts: &[&str]) -> Vec<Range<usize>> {
        self.embedding.cut(texts)
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        self.embedding.embed(texts, kind).await
    }
}
