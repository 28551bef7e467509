//! What the embedders of both protocols share: prefixes, batches, checks, and finding the text that a server refused.

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use serde_json::Value;
use thiserror::Error;
use tokio::task::JoinSet;

use super::caller::Lane;
use super::vectors::{self, VectorError};
use super::{AttemptError, ConnectError, Dimension, EmbedSettings, batches, tokens};
use crate::{EmbedError, Embeddings, Failure, ModelIdentity, TextKind};

/// A server's endpoint for embeddings.
pub(super) trait Endpoint: Debug + Send + Sync + 'static {
    /// One attempt at a batch, which is never empty: a vector for each text in their order, not checked yet.
    fn vectors(
        &self,
        texts: &[String],
    ) -> impl Future<Output = Result<Vec<Vec<f32>>, AttemptError>> + Send;
}

/// An embedder over an endpoint.
#[derive(Debug)]
pub(super) struct Embedding<E> {
    call: Arc<Call<E>>,
    identity: ModelIdentity,
    settings: EmbedSettings,
    dimension: usize,
}

/// What a batch needs on its way.
#[derive(Debug)]
struct Call<E> {
    endpoint: E,
    lane: Lane,
}

/// A batch that failed because of one of its texts.
#[derive(Debug, Error)]
#[error("text {text} cannot be embedded")]
struct TextError {
    text: usize,
    source: Box<dyn std::error::Error + Send + Sync>,
}

impl<E: Endpoint> Embedding<E> {
    /// Embeds one word, to learn the dimension or to see that it is the one expected.
    pub(super) async fn probe(
        endpoint: E,
        identity: ModelIdentity,
        settings: EmbedSettings,
        lane: Lane,
    ) -> Result<Self, ConnectError> {
        let call = Arc::new(Call { endpoint, lane });
        let identity = with_prefixes(identity, &settings);
        let expected = match settings.dimension {
            Dimension::Learn => None,
            Dimension::Expect(dimension) => Some(dimension.get()),
            Dimension::Request(dimension) => usize::try_from(dimension.get()).ok(),
        };
        let text = [format!("{}probe", settings.document_prefix)];
        let probed = call.matrix(&text, 0, expected).await;
        let probed = probed.map_err(|error| ConnectError::from_attempt(&identity, error))?;
        Ok(Self {
            call,
            identity,
            dimension: probed.dimension(),
            settings,
        })
    }

    pub(super) fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    pub(super) fn dimension(&self) -> usize {
        self.dimension
    }

    pub(super) fn settings(&self) -> &EmbedSettings {
        &self.settings
    }

    /// Embeds all texts, their batches side by side as far as the traffic lets them.
    pub(super) async fn embed(
        &self,
        texts: &[&str],
        kind: TextKind,
    ) -> Result<Embeddings, EmbedError> {
        let prefix = match kind {
            TextKind::Query => &self.settings.query_prefix,
            TextKind::Document => &self.settings.document_prefix,
        };
        let texts: Vec<String> = texts.iter().map(|text| format!("{prefix}{text}")).collect();
        let texts = Arc::new(texts);
        let failed = |error: AttemptError| EmbedError::Model {
            model: self.identity.clone(),
            texts: texts.len(),
            failure: error.failure,
            source: error.source,
        };
        let (most_texts, most_tokens) = (self.settings.max_batch, self.settings.max_batch_tokens);
        let batches = batches::cut(&texts, most_texts, most_tokens);
        let mut parts: Vec<Vec<f32>> = vec![Vec::new(); batches.len()];
        // Dropped on the first failure, which takes the other batches back.
        let mut under_way = JoinSet::new();
        for (number, batch) in batches.into_iter().enumerate() {
            let (call, texts, dimension) = (self.call.clone(), texts.clone(), self.dimension);
            under_way.spawn(async move {
                let first = batch.start;
                let vectors = call.batch(&texts[batch], first, dimension).await?;
                Ok::<_, AttemptError>((number, vectors.into_values()))
            });
        }
        while let Some(batch) = under_way.join_next().await {
            let batch = batch.unwrap_or_else(|error| Err(lost_task(error)));
            let (number, values) = batch.map_err(failed)?;
            parts[number] = values;
        }
        Ok(Embeddings::new(self.dimension, parts.concat())?)
    }
}

impl<E: Endpoint> Call<E> {
    /// Embeds a batch; if one of its texts is refused, says which.
    async fn batch(
        &self,
        texts: &[String],
        first: usize,
        dimension: usize,
    ) -> Result<Embeddings, AttemptError> {
        let error = match self.matrix(texts, first, Some(dimension)).await {
            Ok(vectors) => return Ok(vectors),
            Err(error) => error,
        };
        if error.failure != Failure::Content || error.source.is::<VectorError>() {
            return Err(error);
        }
        let (text, error) = self.refused(texts, dimension, error).await;
        Err(AttemptError {
            source: Box::new(TextError {
                text: first + text,
                source: error.source,
            }),
            ..error
        })
    }

    /// Halves a refused batch until the refused text is alone. Where each half alone is taken, it was the whole that was too
    /// much, and the first text stands for it.
    async fn refused(
        &self,
        texts: &[String],
        dimension: usize,
        mut error: AttemptError,
    ) -> (usize, AttemptError) {
        let (mut start, mut end) = (0, texts.len());
        while end - start > 1 {
            let middle = usize::midpoint(start, end);
            match self
                .matrix(&texts[start..middle], start, Some(dimension))
                .await
            {
                Ok(_) => start = middle,
                Err(narrower) => {
                    end = middle;
                    error = narrower;
                }
            }
        }
        (start, error)
    }

    async fn matrix(
        &self,
        texts: &[String],
        first: usize,
        dimension: Option<usize>,
    ) -> Result<Embeddings, AttemptError> {
        let estimate = texts.iter().map(|text| tokens::estimate(text)).sum();
        let attempt = || self.endpoint.vectors(texts);
        let vectors = self.lane.call(estimate, attempt).await?.value;
        vectors::matrix(&vectors, texts.len(), first, dimension).map_err(unsound)
    }
}

/// A zero vector may lie in its text; everything else is wrong with the model.
fn unsound(error: VectorError) -> AttemptError {
    let failure = match error {
        VectorError::Zero { .. } => Failure::Content,
        _ => Failure::Terminal,
    };
    AttemptError::new(failure, error)
}

fn lost_task(error: tokio::task::JoinError) -> AttemptError {
    AttemptError::new(Failure::Transient, error)
}

/// Prefixes and extra fields change vectors, so they are part of what names the model.
fn with_prefixes(identity: ModelIdentity, settings: &EmbedSettings) -> ModelIdentity {
    let mut parts: Vec<String> = identity.digest.iter().cloned().collect();
    if identity.digest.is_none() {
        // Another server may have other weights of that name.
        parts.push(format!("at={}", settings.server.base_url));
    }
    if !settings.extra_body.is_empty() {
        parts.push(format!(
            "extra_body={}",
            Value::from(settings.extra_body.clone())
        ));
    }
    for (name, prefix) in [
        ("query", &settings.query_prefix),
        ("document", &settings.document_prefix),
    ] {
        if !prefix.is_empty() {
            parts.push(format!("{name}={prefix:?}"));
        }
    }
    if let Dimension::Request(dimension) = settings.dimension {
        parts.push(format!("dimension={dimension}"));
    }
    identity.with_digest(parts.join(" "))
}
