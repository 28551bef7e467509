//! The parts that the embedders of both protocols share: prefixes, batches, checks, and the handling of texts that a server refuses.

mod vectors;

use std::fmt::Debug;
use std::num::{NonZero, NonZeroUsize};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use serde_json::Value;
use thiserror::Error;
use tokio::task::JoinSet;

use self::vectors::VectorError;
use crate::classify::Complaint;
use crate::server::{ConnectError, ServerError, redacted_fields};
use crate::settings::{Dimension, EmbedSettings};
use crate::tokens::{self, TokensRead};
use crate::traffic::{AttemptError, Lane};
use evals_models::wording::truncation_note;
use evals_models::{
    EmbedError, Embedder, Embeddings, Failure, ModelIdentity, NoDirection, RowOrigin, TextKind,
};

/// A text is cut to four fifths of its length until the server takes it. So many steps reduce a book to a page.
const MOST_CUTS: usize = 40;
/// Bytes of a long word that is a single token.
const LONGEST_TOKEN: usize = 8;

/// A server's endpoint for embeddings.
#[async_trait]
pub(crate) trait EmbeddingEndpoint: Debug + Send + Sync {
    /// Makes one attempt at a batch, which is never empty. Returns a vector for each text in order, not checked yet, and the tokens that
    /// the server read.
    async fn vectors(&self, texts: &[String])
    -> Result<(Vec<Vec<f32>>, Option<u64>), AttemptError>;

    /// Whether the server refuses a text that is too long. Other servers may cut it silently.
    fn refuses_long(&self) -> bool;
}

/// An embedding model behind a server.
///
/// Texts are sent in batches, as many at once as the traffic allows.
#[derive(Debug)]
pub struct HttpEmbedder {
    call: Arc<EmbeddingCall>,
    identity: ModelIdentity,
    settings: EmbedSettings,
    dimension: usize,
}

/// The parts of an embedder that each batch needs.
#[derive(Debug)]
struct EmbeddingCall {
    endpoint: Box<dyn EmbeddingEndpoint>,
    lane: Lane,
    /// The most tokens of a text that the model reads, where that is known.
    reads: Option<usize>,
    /// The most texts of one request, as far as the server's refusals have shown.
    max_batch: AtomicUsize,
    /// How many texts were cut.
    cut: AtomicU64,
    tokens_read: TokensRead,
}

/// The vectors of a batch.
#[derive(Debug, Default)]
struct EmbeddedBatch {
    values: Vec<f32>,
    /// For each text, whether it was cut, where that is known.
    cut: Vec<Option<bool>>,
    /// The service time of its calls, without queueing and failed attempts.
    took: Duration,
}

/// A batch failed because of one of its texts.
#[derive(Debug, Error)]
#[error("text {text} cannot be embedded")]
struct TextError {
    text: usize,
    source: Arc<dyn std::error::Error + Send + Sync>,
}

impl HttpEmbedder {
    /// Embeds one word, to learn the dimension of the vectors or to check it.
    pub(crate) async fn probe(
        endpoint: impl EmbeddingEndpoint + 'static,
        identity: ModelIdentity,
        settings: EmbedSettings,
        lane: Lane,
        reads: Option<usize>,
    ) -> Result<Self, ConnectError> {
        let call = Arc::new(EmbeddingCall {
            endpoint: Box::new(endpoint),
            lane,
            reads,
            max_batch: AtomicUsize::new(settings.max_batch.get()),
            cut: AtomicU64::new(0),
            tokens_read: TokensRead::default(),
        });
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

    /// The batches of texts that go into one request each. Prefixes may make one batch more.
    fn cut(&self, texts: &[impl AsRef<str>]) -> Vec<Range<usize>> {
        let most_texts = self.call.max_batch.load(Ordering::Relaxed);
        let most_texts = NonZero::new(most_texts).unwrap_or(NonZero::<usize>::MIN);
        batches(texts, most_texts, self.settings.max_batch_tokens)
    }
}

#[async_trait]
impl Embedder for HttpEmbedder {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    fn dimension(&self) -> usize {
        self.dimension
    }

    fn input_tokens(&self) -> Option<u64> {
        self.call.tokens_read.sum()
    }

    fn notes(&self) -> Vec<String> {
        let note = truncation_note(self.call.cut.load(Ordering::Relaxed), "text");
        note.into_iter().collect()
    }

    fn max_tokens(&self) -> Option<usize> {
        self.call.reads
    }

    fn batches(&self, texts: &[&str]) -> Vec<Range<usize>> {
        self.cut(texts)
    }

    async fn embed(&self, texts: &[&str], kind: TextKind) -> Result<Embeddings, EmbedError> {
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
            source: Box::new(error.source),
        };
        let batches = self.cut(&texts);
        let mut parts: Vec<_> = batches.iter().map(|_| (Vec::new(), Vec::new())).collect();
        let mut took = Duration::ZERO;
        // Dropped on the first failure, which cancels the other batches.
        let mut under_way = JoinSet::new();
        for (number, batch) in batches.into_iter().enumerate() {
            let (call, texts, dimension) = (self.call.clone(), texts.clone(), self.dimension);
            under_way.spawn(async move {
                let first = batch.start;
                let batch = call.batch(&texts[batch], first, dimension).await?;
                Ok::<_, AttemptError>((number, batch))
            });
        }
        while let Some(batch) = under_way.join_next().await {
            let batch = batch.unwrap_or_else(|error| Err(lost_task(error)));
            let (number, batch) = batch.map_err(failed)?;
            parts[number] = (batch.values, batch.cut);
            took += batch.took;
        }
        let (values, cut): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
        let embeddings = Embeddings::new(self.dimension, values.concat())?;
        Ok(embeddings
            .with_cut(cut.concat())
            .with_origin(RowOrigin { stored: 0, took }))
    }
}

impl EmbeddingCall {
    /// Embeds a batch. If the server refuses it, each half is tried, down to single texts; the error names a text that is refused
    /// alone.
    ///
    /// A batch that was refused although the server takes each of its texts was too large. Later batches are smaller.
    async fn batch(
        &self,
        texts: &[String],
        first: usize,
        dimension: usize,
    ) -> Result<EmbeddedBatch, AttemptError> {
        let mut brought = EmbeddedBatch::default();
        let (mut refused, mut cut) = (Vec::new(), Vec::new());
        // A stack with the next part on top, so that vectors arrive in the order of their texts.
        let whole = 0..texts.len();
        let mut left = vec![whole];
        while let Some(part) = left.pop() {
            let place = first + part.start;
            let vectors = self.matrix(&texts[part.clone()], place, Some(dimension));
            let error = match vectors.await {
                Ok(vectors) => {
                    brought.add(vectors, self.endpoint.refuses_long().then_some(false));
                    continue;
                }
                Err(error) => error,
            };
            if error.failure != Failure::Content || !is_refusal(&error) {
                return Err(error);
            }
            if part.len() > 1 {
                let middle = usize::midpoint(part.start, part.end);
                left.extend([middle..part.end, part.start..middle]);
                refused.push(part);
                continue;
            }
            let vector = self.beginning(&texts[part.start], place, dimension, error);
            brought.add(vector.await?, Some(true));
            cut.push(part.start);
        }
        let too_large = refused
            .iter()
            .filter(|part| !cut.iter().any(|text| part.contains(text)));
        if let Some(smallest) = too_large.map(ExactSizeIterator::len).min() {
            let half = smallest.div_ceil(2);
            self.max_batch.fetch_min(half, Ordering::Relaxed);
        }
        Ok(brought)
    }

    /// Embeds as much of the beginning of a text as the server takes, if the server refused the text for its length.
    ///
    /// The cut depends only on the text and the server, so that equal texts have equal vectors.
    async fn beginning(
        &self,
        text: &str,
        place: usize,
        dimension: usize,
        mut error: AttemptError,
    ) -> Result<Embeddings, AttemptError> {
        let longest = self
            .reads
            .map_or(usize::MAX, |tokens| tokens.saturating_mul(LONGEST_TOKEN));
        let mut kept = text;
        for _ in 0..MOST_CUTS {
            let length = (kept.len() / 5 * 4).min(longest);
            kept = &kept[..kept.floor_char_boundary(length)];
            if !is_too_long(&error) || kept.is_empty() {
                break;
            }
            match self
                .matrix(&[kept.to_owned()], place, Some(dimension))
                .await
            {
                Ok(vector) => {
                    self.cut.fetch_add(1, Ordering::Relaxed);
                    return Ok(vector);
                }
                Err(other) => error = other,
            }
        }
        if error.failure != Failure::Content {
            return Err(error);
        }
        Err(AttemptError {
            source: Arc::new(TextError {
                text: place,
                source: error.source,
            }),
            ..error
        })
    }

    async fn matrix(
        &self,
        texts: &[String],
        first: usize,
        dimension: Option<usize>,
    ) -> Result<Embeddings, AttemptError> {
        let estimate = texts.iter().map(|text| tokens::estimate(text)).sum();
        let attempt = || self.endpoint.vectors(texts);
        let delivered = self.lane.call(estimate, attempt).await?;
        let (vectors, tokens) = delivered.value;
        self.tokens_read.add(tokens);
        let vectors = vectors::matrix(&vectors, texts, first, dimension);
        let (stored, took) = (0, delivered.service_time);
        Ok(vectors
            .map_err(unsound)?
            .with_origin(RowOrigin { stored, took }))
    }
}

impl EmbeddedBatch {
    fn add(&mut self, vectors: Embeddings, cut: Option<bool>) {
        let rows = self.cut.len() + vectors.len();
        self.cut.resize(rows, cut);
        self.took += vectors.took().unwrap_or_default();
        self.values.extend(vectors.into_values());
    }
}

impl ConnectError {
    /// The number of dimensions of the model's vectors, if the settings expect another one.
    pub fn other_dimension(&self) -> Option<usize> {
        match self {
            Self::Server { source, .. } => match source.downcast_ref() {
                Some(VectorError::Dimension { length, .. }) => Some(*length),
                _ => None,
            },
            Self::Settings(_) => None,
        }
    }
}

/// Whether the server refused the request, rather than sent an answer that cannot be used.
fn is_refusal(error: &AttemptError) -> bool {
    matches!(
        error.source.downcast_ref(),
        Some(ServerError::Refused { .. })
    )
}

fn is_too_long(error: &AttemptError) -> bool {
    match error.source.downcast_ref() {
        Some(ServerError::Refused { refusal, .. }) => refusal.complaint == Some(Complaint::TooLong),
        _ => false,
    }
}

/// The failure of vectors that cannot be used. A zero vector may be due to its text; any other defect is the model's.
fn unsound(error: VectorError) -> AttemptError {
    let failure = match error {
        VectorError::Direction {
            source: NoDirection::Zero { .. },
            ..
        } => Failure::Content,
        _ => Failure::Terminal,
    };
    AttemptError::new(failure, error)
}

fn lost_task(error: tokio::task::JoinError) -> AttemptError {
    AttemptError::new(Failure::Transient, error)
}

/// The identity with the settings that change vectors, such as prefixes and extra fields.
fn with_prefixes(identity: ModelIdentity, settings: &EmbedSettings) -> ModelIdentity {
    let mut parts: Vec<String> = identity.digest.iter().cloned().collect();
    if identity.digest.is_none() {
        // Another server may have other weights under that name.
        parts.push(format!("at={}", settings.server.base_url));
    }
    if !settings.extra_body.is_empty() {
        parts.push(format!(
            "extra_body={}",
            Value::from(redacted_fields(&settings.extra_body))
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
    if let Some(tokens) = settings.max_tokens {
        parts.push(format!("max_tokens={tokens}"));
    }
    if let Dimension::Request(dimension) = settings.dimension {
        parts.push(format!("dimension={dimension}"));
    }
    identity.with_digest(parts.join(" "))
}

/// Splits texts into batches of at most `max_texts` texts and `max_tokens` estimated tokens, in order. A text with more tokens is a
/// batch of its own.
fn batches(
    texts: &[impl AsRef<str>],
    max_texts: NonZeroUsize,
    max_tokens: NonZeroUsize,
) -> Vec<Range<usize>> {
    let most = u64::try_from(max_tokens.get()).unwrap_or(u64::MAX);
    let mut batches = Vec::new();
    let (mut start, mut sum) = (0, 0);
    for (index, text) in texts.iter().enumerate() {
        let tokens = tokens::at_most(text.as_ref());
        let full = index - start == max_texts.get() || sum + tokens > most;
        if full && index > start {
            batches.push(start..index);
            (start, sum) = (index, 0);
        }
        sum += tokens;
    }
    if start < texts.len() {
        batches.push(start..texts.len());
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut_at(lengths: &[usize], max_texts: usize, max_tokens: usize) -> Vec<Range<usize>> {
        let texts: Vec<String> = lengths
            .iter()
            .map(|length| "a".repeat(length * 3))
            .collect();
        let most = |number| NonZeroUsize::new(number).unwrap();
        batches(&texts, most(max_texts), most(max_tokens))
    }

    #[test]
    fn texts_and_tokens_both_end_a_batch() {
        assert_eq!(cut_at(&[1, 1, 1, 1, 1], 2, 100), [0..2, 2..4, 4..5]);
        assert_eq!(cut_at(&[4, 4, 4, 9, 1], 64, 10), [0..2, 2..3, 3..5]);
    }

    #[test]
    fn a_text_beyond_the_limit_goes_alone() {
        assert_eq!(cut_at(&[1, 50, 1], 64, 10), [0..1, 1..2, 2..3]);
        assert_eq!(cut_at(&[50], 64, 10), vec![0..1; 1]);
    }

    #[test]
    fn no_texts_are_no_batches() {
        assert!(cut_at(&[], 64, 10).is_empty());
    }
}
