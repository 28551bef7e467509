//! Embedding models behind servers that speak `OpenAI`'s protocol.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use async_openai::types::embeddings::{CreateEmbeddingRequest, EmbeddingInput, EncodingFormat};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::transport::{self, Transport};
use crate::embedding::{Embedding, Endpoint};
use crate::server::{ConnectError, Expected, Protocol, Server};
use crate::settings::extra_body::{self, Extended};
use crate::settings::{Dimension, EmbedSettings, SettingsError};
use crate::tokens::TokensRead;
use crate::traffic::{AttemptError, Lane, Traffic};
use evals_models::{EmbedError, Embedder, Embeddings, ModelIdentity, TextKind};

/// Fields that `extra_body` may not set, because the program fills them and could not read the answers to other values.
const RESERVED: [&str; 4] = ["input", "model", "encoding_format", "dimensions"];

/// An embedding model behind a server that speaks `OpenAI`'s protocol.
///
/// It embeds the beginning of a text that the server refuses as too long.
pub struct OpenAiEmbedder(Embedding<OpenAiEndpoint>);

struct OpenAiEndpoint {
    server: Server,
    dimensions: Option<u32>,
    extra_body: Map<String, Value>,
    tokens_read: TokensRead,
}

/// The server's answer. Any field may be missing, because servers differ in what they send.
#[derive(Debug, Deserialize)]
struct Answer {
    #[serde(default)]
    data: Vec<Row>,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    error: Value,
}

#[derive(Clone, Copy, Debug, Deserialize)]
struct Usage {
    #[serde(default)]
    prompt_tokens: Option<u64>,
    #[serde(default)]
    total_tokens: Option<u64>,
}

#[derive(Debug, Deserialize)]
struct Row {
    #[serde(default)]
    index: Option<usize>,
    embedding: Vec<f32>,
}

impl OpenAiEmbedder {
    /// Embeds one word, to check that the model is there and to learn the dimension of its vectors.
    pub async fn connect(
        settings: EmbedSettings,
        traffic: Arc<Traffic>,
    ) -> Result<Self, ConnectError> {
        let foreign = [("keep_alive", settings.keep_alive.is_some())];
        SettingsError::refuse_foreign(Protocol::OpenAi.provider(), &foreign)?;
        extra_body::check(&settings.extra_body, &RESERVED)?;
        let server = Server::new(Protocol::OpenAi, settings.server.clone(), &settings.model)?
            .with_fields(&settings.extra_body);
        let endpoint = OpenAiEndpoint {
            dimensions: match settings.dimension {
                Dimension::Request(dimension) => Some(dimension.get()),
                Dimension::Learn | Dimension::Expect(_) => None,
            },
            extra_body: settings.extra_body.clone(),
            tokens_read: TokensRead::default(),
            server,
        };
        let lane = Lane::new(traffic, &settings.server, &settings.model);
        let identity = endpoint.server.identity();
        let embedding = {
            let reads = settings.max_tokens.map(std::num::NonZero::get);
            Embedding::probe(endpoint, identity, settings, lane, reads).await?
        };
        Ok(Self(embedding))
    }
}

impl OpenAiEndpoint {
    fn body(&self, texts: &[String]) -> Extended<'_, CreateEmbeddingRequest> {
        let request = CreateEmbeddingRequest {
            model: self.server.model().to_owned(),
            input: EmbeddingInput::StringArray(texts.to_vec()),
            encoding_format: Some(EncodingFormat::Float),
            dimensions: self.dimensions,
            user: None,
        };
        Extended {
            request,
            extra_body: &self.extra_body,
        }
    }

    fn read(&self, answer: Answer) -> Result<Vec<Vec<f32>>, AttemptError> {
        if !answer.error.is_null() {
            let error = serde_json::json!({"error": answer.error});
            return Err(self.server.refused_inside(&error));
        }
        let usage = answer.usage;
        let read = usage.and_then(|usage| usage.prompt_tokens.or(usage.total_tokens));
        self.tokens_read.add(read);
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
        Ok(rows.into_iter().map(|row| row.embedding).collect())
    }
}

impl Endpoint for OpenAiEndpoint {
    const REFUSES_LONG: bool = false;

    async fn vectors(&self, texts: &[String]) -> Result<Vec<Vec<f32>>, AttemptError> {
        let client = Transport::client(&self.server, Expected::embeddings(texts.len()));
        let body = self.body(texts);
        match client.embeddings().create_byot::<_, Answer>(body).await {
            Ok(answer) => self.read(answer),
            Err(error) => {
                let body = transport::failure(&self.server, error)?;
                if is_unpooled(&body.text) {
                    return Err(self.server.unpooled());
                }
                let source = Some(body.source);
                Err(self.server.malformed("embeddings", &body.text, source))
            }
        }
    }

    fn tokens_read(&self) -> &TokensRead {
        &self.tokens_read
    }
}

/// Whether an answer has a vector for each token of a text, as `llama-cpp-python` sends it for chat models.
fn is_unpooled(answer: &str) -> bool {
    let answer: Value = serde_json::from_str(answer).unwrap_or_default();
    let first = answer.pointer("/data/0/embedding/0");
    first.is_some_and(Value::is_array)
}

#[async_trait]
impl Embedder for OpenAiEmbedder {
    fn identity(&self) -> &ModelIdentity {
        self.0.identity()
    }

    fn dimension(&self) -> usize {
        self.0.dimension()
    }

    fn input_tokens(&self) -> Option<u64> {
        self.0.input_tokens()
    }

    fn notes(&self) -> Vec<String> {
        self.0.notes()
    }

    fn max_tokens(&self) -> Option<usize> {
        self.0.settings().max_tokens.map(std::num::NonZero::get)
    }

    fn batches(&self, texts: &[&str]) -> Vec<Range<usize>> {
        self.0.cut(texts)
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
        self.0.embed(texts, kind).await
    }
}

impl fmt::Debug for OpenAiEmbedder {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("OpenAiEmbedder")
            .field("settings", self.0.settings())
            .field("dimension", &self.0.dimension())
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for OpenAiEndpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("OpenAiEndpoint")
            .field(&self.server)
            .finish()
    }
}
