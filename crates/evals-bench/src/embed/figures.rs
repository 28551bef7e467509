//! The results of the benchmark, and the JSON that holds them.

use std::num::NonZeroUsize;
use std::time::Duration;

use evals_metrics::Percentiles;
use evals_models::{Embedder, ModelIdentity};
use evals_rag::prices::Price;
use serde::Serialize;

use super::texts::Texts;

/// Version of the JSON format.
const SCHEMA_VERSION: u32 = 1;

/// The results of all models.
#[derive(Debug, Serialize)]
pub(super) struct Figures {
    schema_version: u32,
    benchmark: &'static str,
    version: &'static str,
    pub(super) texts: TextFigures,
    /// Time for each model.
    pub(super) seconds: f64,
    pub(super) models: Vec<ModelFigures>,
}

/// The texts that the models embedded.
#[derive(Debug, Serialize)]
pub(super) struct TextFigures {
    pub(super) source: String,
    pub(super) count: usize,
    /// Tokens of the shortest text, of the median and of the longest, by the embedded model's tokenizer.
    pub(super) tokens: [usize; 3],
}

/// The results of one model.
#[derive(Debug, Default, Serialize)]
pub(super) struct ModelFigures {
    pub(super) label: String,
    /// `None` if the model could not be opened.
    pub(super) identity: Option<ModelIdentity>,
    pub(super) dimension: Option<usize>,
    pub(super) max_tokens: Option<usize>,
    /// Time from opening the model, with its files on disk, to the first vector.
    pub(super) first_vector_seconds: Option<f64>,
    /// `None` if the price is unknown.
    pub(super) usd_per_million_tokens: Option<f64>,
    /// The estimated cost of this benchmark.
    pub(super) usd_spent: Option<f64>,
    pub(super) latency: Vec<Latency>,
    pub(super) throughput: Vec<Throughput>,
    /// Measurements that the time limit excluded.
    pub(super) left_out: Vec<LeftOut>,
    /// Why the model could not be measured to the end.
    pub(super) failure: Option<String>,
}

/// The latency of sequential calls.
#[derive(Debug, Serialize)]
pub(super) struct Latency {
    pub(super) batch: NonZeroUsize,
    pub(super) seconds: Percentiles,
}

/// The throughput of concurrent calls.
#[derive(Debug, Serialize)]
pub(super) struct Throughput {
    pub(super) concurrency: NonZeroUsize,
    pub(super) batch: NonZeroUsize,
    pub(super) texts: usize,
    /// Tokens by the embedded model's tokenizer, without those beyond the model's limit.
    pub(super) tokens: usize,
    pub(super) seconds: f64,
    pub(super) texts_per_second: f64,
    pub(super) tokens_per_second: f64,
}

/// A measurement that was skipped.
#[derive(Debug, Serialize)]
pub(super) struct LeftOut {
    pub(super) batch: NonZeroUsize,
    pub(super) concurrency: NonZeroUsize,
    pub(super) reason: String,
}

impl Figures {
    /// No results yet, of models with this time each.
    pub(super) fn new(texts: &Texts, time: Duration) -> Self {
        let mut tokens = texts.tokens();
        tokens.sort_unstable();
        let at = |place: usize| tokens.get(place).copied().unwrap_or_default();
        Self {
            schema_version: SCHEMA_VERSION,
            benchmark: "embed",
            version: env!("CARGO_PKG_VERSION"),
            texts: TextFigures {
                source: texts.source.clone(),
                count: tokens.len(),
                tokens: [at(0), at(tokens.len() / 2), at(tokens.len() - 1)],
            },
            seconds: time.as_secs_f64(),
            models: Vec::new(),
        }
    }
}

impl ModelFigures {
    pub(super) fn new(label: &str) -> Self {
        Self {
            label: label.to_owned(),
            ..Self::default()
        }
    }

    /// Records the properties of an opened model.
    pub(super) fn enter(&mut self, embedder: &dyn Embedder, price: Price) {
        self.identity = Some(embedder.identity().clone());
        self.dimension = Some(embedder.dimension());
        self.max_tokens = embedder.max_tokens();
        self.usd_per_million_tokens = price.input;
    }

    /// Adds the cost of embedded tokens.
    pub(super) fn spend(&mut self, tokens: usize) {
        #[expect(clippy::cast_precision_loss, reason = "fewer tokens than 2^52")]
        let millions = tokens as f64 / 1e6;
        let cost = self.usd_per_million_tokens.map(|price| price * millions);
        self.usd_spent = cost.map(|cost| cost + self.usd_spent.unwrap_or(0.0));
    }
}
