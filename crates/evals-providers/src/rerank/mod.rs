//! Servers with an endpoint `/rerank`: Cohere, Jina, vLLM, llama.cpp, infinity, and text-embeddings-inference in its own dialect.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use evals_messages::quantity;
use evals_models::{Failure, ModelIdentity, RerankError, Reranked, Reranker, Usage};
use serde::Deserialize;
use serde_json::{Value, json};
use thiserror::Error;
use tokio::task::JoinSet;

use crate::server::{ConnectError, Expected, Protocol, Server, ServerError};
use crate::settings::RerankSettings;
use crate::settings::extra_body::{self, Extended};
use crate::tokens;
use crate::traffic::{AttemptError, Lane, Traffic};

/// A reranker behind a server: `{base_url}/rerank`, which Cohere introduced and most others adopted.
///
/// Texts are sent in batches, as many at once as the [`Traffic`] allows. The first request finds out whether the server takes them
/// as `documents` or, as text-embeddings-inference does, as `texts`.
#[derive(Debug)]
pub struct HttpReranker {
    endpoint: Arc<RerankEndpoint>,
    identity: ModelIdentity,
}

/// Fields that `extra_body` may not set, because the program fills them and could not read the answers to other values.
const RESERVED: [&str; 4] = ["model", "query", "documents", "texts"];

/// How a server takes texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RerankShape {
    /// As `documents`, with the model's name.
    Documents,
    /// As `texts`, for text-embeddings-inference. It has one model, and refuses long texts unless it may cut them.
    Texts,
}

/// A server's endpoint, and how it is asked.
#[derive(Debug)]
struct RerankEndpoint {
    server: Server,
    settings: RerankSettings,
    shape: RerankShape,
    lane: Lane,
}

/// The scores of a batch.
struct ScoredBatch {
    texts: Range<usize>,
    scores: Vec<f32>,
    usage: Option<Usage>,
    service_time: Duration,
}

impl HttpReranker {
    /// Has one word ranked, to check that the model is there and to learn which dialect its server takes.
    pub async fn connect(
        settings: RerankSettings,
        traffic: Arc<Traffic>,
    ) -> Result<Self, ConnectError> {
        extra_body::check(&settings.extra_body, &RESERVED)?;
        let server = Server::new(Protocol::Rerank, settings.server.clone(), &settings.model)?
            .with_fields(&settings.extra_body);
        let identity = ModelIdentity::new(Protocol::Rerank.provider(), &settings.model);
        let endpoint = RerankEndpoint {
            server,
            shape: RerankShape::Documents,
            lane: Lane::new(traffic, &settings.server, &settings.model),
            settings,
        };
        let endpoint = endpoint.probed().await;
        let endpoint = endpoint.map_err(|error| ConnectError::from_attempt(&identity, error))?;
        Ok(Self {
            endpoint: Arc::new(endpoint),
            identity,
        })
    }

    async fn batches(&self, query: &str, texts: &[&str]) -> Result<Vec<ScoredBatch>, AttemptError> {
        let most = self.endpoint.settings.max_batch.get();
        // Dropped on the first failure, which cancels the other batches.
        let mut under_way = JoinSet::new();
        for (number, batch) in texts.chunks(most).enumerate() {
            let first = number * most;
            let place = first..first + batch.len();
            let batch: Vec<String> = batch.iter().map(|text| (*text).to_owned()).collect();
            let (endpoint, query) = (Arc::clone(&self.endpoint), query.to_owned());
            under_way.spawn(async move { endpoint.batch(&query, &batch, place).await });
        }
        let mut batches = Vec::new();
        while let Some(batch) = under_way.join_next().await {
            batches.push(
                batch.unwrap_or_else(|error| Err(AttemptError::new(Failure::Transient, error)))?,
            );
        }
        Ok(batches)
    }
}

impl RerankEndpoint {
    /// The same endpoint, in the dialect that its server takes.
    async fn probed(mut self) -> Result<Self, AttemptError> {
        let probe = ["probe".to_owned()];
        let Err(error) = self.batch("probe", &probe, 0..1).await else {
            return Ok(self);
        };
        let was_answered = matches!(
            error.source.downcast_ref(),
            Some(ServerError::TooLarge { .. } | ServerError::Malformed { .. })
        );
        if error.failure != Failure::Content || was_answered {
            return Err(error);
        }
        // The server may have refused the field `documents`.
        self.shape = RerankShape::Texts;
        match self.batch("probe", &probe, 0..1).await {
            Ok(_) => Ok(self),
            Err(_) => Err(error),
        }
    }

    async fn batch(
        &self,
        query: &str,
        texts: &[String],
        place: Range<usize>,
    ) -> Result<ScoredBatch, AttemptError> {
        let request = match self.shape {
            RerankShape::Documents => {
                json!({"model": self.settings.model, "query": query, "documents": texts})
            }
            RerankShape::Texts => json!({"query": query, "texts": texts, "truncate": true}),
        };
        let body = Extended {
            request,
            extra_body: &self.settings.extra_body,
        };
        let read = texts.iter().map(|text| tokens::estimate(text)).sum::<u64>();
        let queries = tokens::estimate(query).saturating_mul(texts.len() as u64);
        let attempt = || async {
            let expected = Expected::scores(texts);
            let answer = self.server.post("/rerank", &body, expected).await?;
            Scores::read(&self.server, &answer, &place)
        };
        let delivered = self
            .lane
            .call(read.saturating_add(queries), attempt)
            .await?;
        Ok(ScoredBatch {
            texts: place,
            scores: delivered.value.scores,
            usage: delivered.value.usage,
            service_time: delivered.service_time,
        })
    }
}

#[async_trait]
impl Reranker for HttpReranker {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        _repeat: u32,
    ) -> Result<Reranked, RerankError> {
        let batches = self.batches(query, texts).await;
        let mut batches = batches.map_err(|error| RerankError {
            model: self.identity.clone(),
            texts: texts.len(),
            failure: error.failure,
            source: Box::new(error.source),
        })?;
        batches.sort_unstable_by_key(|batch| batch.texts.start);
        Ok(Reranked {
            usage: batches
                .iter()
                .map(|batch| batch.usage)
                .reduce(|sum, usage| Some(sum?.plus(usage?)))
                .flatten(),
            service_time: batches.iter().map(|batch| batch.service_time).sum(),
            scores: batches.into_iter().flat_map(|batch| batch.scores).collect(),
            cached: false,
        })
    }
}

/// The name of the answer in messages.
const EXPECTED: &str = "scores";

/// The scores of a batch in the order of its texts.
#[derive(Debug)]
pub(super) struct Scores {
    pub(super) scores: Vec<f32>,
    pub(super) usage: Option<Usage>,
}

/// The server left texts out, although the request did not limit how many to return.
#[derive(Debug, Error)]
#[error("{server} gave no score for {missing} of {}", quantity::of(*texts, "text"))]
struct MissingError {
    server: String,
    missing: usize,
    texts: usize,
}

/// The server's answer. Any field may be missing, because servers differ in what they send.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct RerankAnswer {
    #[serde(alias = "data")]
    results: Vec<ScoreRow>,
    usage: Option<TokenCounts>,
    meta: Option<CohereMeta>,
    error: Value,
}

#[derive(Debug, Deserialize)]
struct ScoreRow {
    index: usize,
    /// The name that most servers use.
    relevance_score: Option<f32>,
    /// The name that text-embeddings-inference uses. A server may send both.
    score: Option<f32>,
}

#[derive(Debug, Deserialize)]
struct TokenCounts {
    #[serde(default, alias = "input_tokens")]
    prompt_tokens: Option<u64>,
    total_tokens: Option<u64>,
}

/// The place of Cohere's token counts.
#[derive(Debug, Deserialize)]
struct CohereMeta {
    tokens: Option<TokenCounts>,
}

impl Scores {
    /// Reads an answer about the texts at `place` among all texts. Messages number the texts by their place among all.
    pub(super) fn read(
        server: &Server,
        body: &[u8],
        place: &Range<usize>,
    ) -> Result<Self, AttemptError> {
        let answer = answer(body).map_err(|error| {
            server.malformed(EXPECTED, &String::from_utf8_lossy(body), Some(error))
        })?;
        if !answer.error.is_null() {
            return Err(server.refused_inside(&json!({"error": answer.error})));
        }
        let tokens = answer.usage.or(answer.meta.and_then(|meta| meta.tokens));
        Ok(Self {
            scores: scores(server, answer.results, place)?,
            usage: tokens.and_then(|tokens| {
                Some(Usage {
                    input_tokens: tokens.prompt_tokens.or(tokens.total_tokens)?,
                    ..Usage::default()
                })
            }),
        })
    }
}

/// An object with `results`, or `data`, or the bare rows.
fn answer(body: &[u8]) -> Result<RerankAnswer, serde_json::Error> {
    let json: Value = serde_json::from_slice(body)?;
    if json.is_array() {
        let results = serde_json::from_value(json)?;
        return Ok(RerankAnswer {
            results,
            ..RerankAnswer::default()
        });
    }
    serde_json::from_value(json)
}

fn scores(
    server: &Server,
    rows: Vec<ScoreRow>,
    place: &Range<usize>,
) -> Result<Vec<f32>, AttemptError> {
    let texts = place.len();
    let unsound = |found: String| server.unexpected(EXPECTED, &found, None);
    let mut scores: Vec<Option<f32>> = vec![None; texts];
    for row in rows {
        let Some(slot) = scores.get_mut(row.index) else {
            let index = row.index;
            return Err(unsound(format!("a score of text {index} of {texts}")));
        };
        let Some(score) = row.relevance_score.or(row.score) else {
            continue;
        };
        let text = place.start + row.index;
        if !score.is_finite() {
            return Err(unsound(format!("a score of text {text} beyond all bounds")));
        }
        if slot.replace(score).is_some() {
            return Err(unsound(format!("two scores of text {text}")));
        }
    }
    let missing = scores.iter().filter(|score| score.is_none()).count();
    if missing > 0 {
        let server = server.name();
        let error = MissingError {
            server,
            missing,
            texts,
        };
        return Err(AttemptError::new(Failure::Content, error));
    }
    Ok(scores.into_iter().flatten().collect())
}
