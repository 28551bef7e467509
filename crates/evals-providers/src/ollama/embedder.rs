//! Embedding models that Ollama runs.

use std::sync::Arc;

use async_trait::async_trait;
use ollama_rs::generation::embeddings::request::{EmbeddingsInput, GenerateEmbeddingsRequest};
use ollama_rs::models::ModelOptions;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::catalog;
use super::request::KeepAlive;
use crate::embedding::{EmbeddingEndpoint, HttpEmbedder};
use crate::server::{ConnectError, Expected, Protocol, Server};
use crate::settings::EmbedSettings;
use crate::settings::extra_body::{self, Extended};
use crate::traffic::{AttemptError, Lane, Traffic};

/// Fields that `extra_body` may not set, because the program fills them and could not read the answers to other values.
const RESERVED: [&str; 4] = ["input", "model", "truncate", "dimensions"];

/// The most tokens that a model is loaded for where the settings do not say. Ollama's default may be less than the model reads,
/// and the model's own limit may need more memory than there is.
const LARGEST_WINDOW: u64 = 8_192;

#[derive(Debug)]
struct OllamaEmbeddings {
    server: Server,
    settings: EmbedSettings,
    /// How many tokens the model is loaded for.
    window: Option<u64>,
}

/// The request of `ollama-rs`, beside the field that its type cannot hold.
#[derive(Debug, Serialize)]
struct EmbedRequest<'a> {
    #[serde(flatten)]
    typed: GenerateEmbeddingsRequest,
    #[serde(skip_serializing_if = "Option::is_none")]
    keep_alive: Option<KeepAlive<'a>>,
}

/// The server's answer. Any field may be missing.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EmbedAnswer {
    embeddings: Vec<Vec<f32>>,
    prompt_eval_count: Option<u64>,
    error: Value,
}

impl HttpEmbedder {
    /// An embedding model in Ollama. The server has to refuse a text that is longer than the model reads, which Ollama would cut silently. The
    /// beginning of such a text is embedded, and the text is counted as cut.
    ///
    /// Asks the server for the model's digest and context length, and embeds one word to learn the dimension of its vectors. Fails with advice
    /// where no server answers or the server does not have the model.
    pub async fn ollama(
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
        let endpoint = OllamaEmbeddings {
            server,
            settings: settings.clone(),
            window,
        };
        let max_tokens = window.and_then(|window| usize::try_from(window).ok());
        Self::probe(endpoint, identity, settings, lane, max_tokens).await
    }
}

impl OllamaEmbeddings {
    fn body(&self, texts: &[String]) -> Extended<'_, EmbedRequest<'_>> {
        let input = EmbeddingsInput::Multiple(texts.to_vec());
        let mut typed =
            GenerateEmbeddingsRequest::new(self.server.model().to_owned(), input).truncate(false);
        if let Some(window) = self.window {
            typed = typed.options(ModelOptions::default().num_ctx(window));
        }
        if let Some(dimensions) = self.settings.dimension.requested() {
            typed = typed.dimensions(dimensions);
        }
        Extended {
            request: EmbedRequest {
                typed,
                keep_alive: self.settings.keep_alive.as_deref().map(KeepAlive::parse),
            },
            extra_body: &self.settings.extra_body,
        }
    }
}

#[async_trait]
impl EmbeddingEndpoint for OllamaEmbeddings {
    async fn vectors(
        &self,
        texts: &[String],
    ) -> Result<(Vec<Vec<f32>>, Option<u64>), AttemptError> {
        let body = self.body(texts);
        let expected = Expected::embeddings(texts.len());
        let answer = self.server.post("/api/embed", &body, expected).await?;
        let answer: EmbedAnswer = self.server.parse(expected, &answer)?;
        if !answer.error.is_null() {
            let error = serde_json::json!({"error": answer.error});
            return Err(self.server.refused_inside(&error));
        }
        Ok((answer.embeddings, answer.prompt_eval_count))
    }

    fn refuses_long(&self) -> bool {
        true
    }
}
