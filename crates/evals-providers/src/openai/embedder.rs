//! Embedding models behind servers that speak `OpenAI`'s protocol.

use std::sync::Arc;

use async_openai::types::embeddings::{CreateEmbeddingRequest, EmbeddingInput, EncodingFormat};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::Value;

use crate::embedding::{EmbeddingEndpoint, HttpEmbedder};
use crate::server::{ConnectError, Expected, Protocol, Server};
use crate::settings::extra_body::{self, Extended};
use crate::settings::{EmbedSettings, SettingsError};
use crate::traffic::{AttemptError, Lane, Traffic};

/// Fields that `extra_body` may not set, because the program fills them and could not read the answers to other values.
const RESERVED: [&str; 4] = ["input", "model", "encoding_format", "dimensions"];

#[derive(Debug)]
struct OpenAiEmbeddings {
    server: Server,
    settings: EmbedSettings,
}

/// The server's answer. Any field may be missing, because servers differ in what they send.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct EmbeddingsAnswer {
    data: Vec<EmbeddingRow>,
    usage: Option<EmbeddingUsage>,
    error: Value,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct EmbeddingUsage {
    prompt_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct EmbeddingRow {
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl HttpEmbedder {
    /// An embedding model behind a server that speaks `OpenAI`'s protocol. It embeds the beginning of a text that the server refuses as too
    /// long.
    ///
    /// Embeds one word, to check that the model is there and to learn the dimension of its vectors.
    pub async fn openai(
        settings: EmbedSettings,
        traffic: Arc<Traffic>,
    ) -> Result<Self, ConnectError> {
        let foreign = [("keep_alive", settings.keep_alive.is_some())];
        SettingsError::refuse_foreign(Protocol::OpenAi.provider(), &foreign)?;
        extra_body::check(&settings.extra_body, &RESERVED)?;
        let server = Server::new(Protocol::OpenAi, settings.server.clone(), &settings.model)?
            .with_fields(&settings.extra_body);
        let identity = server.identity();
        let lane = Lane::new(traffic, &settings.server, &settings.model);
        let reads = settings.max_tokens.map(std::num::NonZero::get);
        let endpoint = OpenAiEmbeddings {
            server,
            settings: settings.clone(),
        };
        Self::probe(endpoint, identity, settings, lane, reads).await
    }
}

impl OpenAiEmbeddings {
    fn body(&self, texts: &[String]) -> Extended<'_, CreateEmbeddingRequest> {
        let request = CreateEmbeddingRequest {
            model: self.server.model().to_owned(),
            input: EmbeddingInput::StringArray(texts.to_vec()),
            encoding_format: Some(EncodingFormat::Float),
            dimensions: self.settings.dimension.requested(),
            user: None,
        };
        Extended {
            request,
            extra_body: &self.settings.extra_body,
        }
    }

    fn read(&self, answer: EmbeddingsAnswer) -> Result<(Vec<Vec<f32>>, Option<u64>), AttemptError> {
        if !answer.error.is_null() {
            let error = serde_json::json!({"error": answer.error});
            return Err(self.server.refused_inside(&error));
        }
        let usage = answer.usage;
        let read = usage.and_then(|usage| usage.prompt_tokens.or(usage.total_tokens));
        let mut rows = answer.data;
        // Servers that split a batch answer in the order in which the parts finish.
        rows.sort_by_key(|row| row.index);
        let numbered = rows.iter().any(|row| row.index.is_some());
        let in_order = (0..)
            .zip(&rows)
            .all(|(place, row)| row.index == Some(place));
        if numbered && !in_order {
            let found = "vectors whose `index` has gaps or repeats";
            return Err(self.server.unexpected("embeddings", found, None));
        }
        Ok((rows.into_iter().map(|row| row.embedding).collect(), read))
    }
}

#[async_trait]
impl EmbeddingEndpoint for OpenAiEmbeddings {
    async fn vectors(
        &self,
        texts: &[String],
    ) -> Result<(Vec<Vec<f32>>, Option<u64>), AttemptError> {
        let expected = Expected::embeddings(texts.len());
        let body = self.body(texts);
        let answer = self.server.post("/embeddings", &body, expected).await?;
        match serde_json::from_slice(&answer) {
            Ok(answer) => self.read(answer),
            Err(_) if is_unpooled(&answer) => Err(self.server.unpooled()),
            Err(error) => {
                let text = String::from_utf8_lossy(&answer);
                Err(self.server.malformed("embeddings", &text, Some(error)))
            }
        }
    }

    fn refuses_long(&self) -> bool {
        false
    }
}

/// Whether an answer has a vector for each token of a text, as `llama-cpp-python` sends it for chat models.
fn is_unpooled(answer: &[u8]) -> bool {
    let answer: Value = serde_json::from_slice(answer).unwrap_or_default();
    let first = answer.pointer("/data/0/embedding/0");
    first.is_some_and(Value::is_array)
}
