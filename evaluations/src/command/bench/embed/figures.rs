//! What was measured, as it is written.

use std::num::NonZeroUsize;

use evals_metrics::Percentiles;
use evals_models::{Embedder, ModelIdentity};
use evals_rag::prices::Price;
use serde::Serialize;

use super::measurement::Plan;

/// Version of the JSON.
const SCHEMA_VERSION: u32 = 1;

/// The figures of all models.
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

/// What the models were given.
#[derive(Debug, Serialize)]
pub(super) struct TextFigures {
    pub(super) source: String,
    pub(super) count: usize,
    /// Tokens of the shortest text, of the median and of the longest, by the embedded model's tokenizer.
    pub(super) tokens: [usize; 3],
}

/// The figures of one model.
#[derive(Debug, Default, Serialize)]
pub(super) struct ModelFigures {
    pub(super) label: String,
    /// `None` where the model could not be opened.
    pub(super) identity: Option<ModelIdentity>,
    pub(super) dimension: Option<usize>,
    pub(super) max_tokens: Option<usize>,
    /// From opening the model, whose files are here, to the vector of one text.
    pub(super) first_vector_seconds: Option<f64>,
    /// `None` where the price is not known.
    pub(super) usd_per_million_tokens: Option<f64>,
    /// Of what this benchmark asked, as estimated.
    pub(super) usd_spent: Option<f64>,
    pub(super) latency: Vec<Latency>,
    pub(super) throughput: Vec<Throughput>,
    /// What there was no time for.
    pub(super) left_out: Vec<LeftOut>,
    /// Why the model could not be measured to the end.
    pub(super) failure: Option<String>,
}

/// How long calls take, one after another.
#[derive(Debug, Serialize)]
pub(super) struct Latency {
    pub(super) batch: NonZeroUsize,
    pub(super) seconds: Percentiles,
}

/// How much is embedded by calls at the same time.
#[derive(Debug, Serialize)]
pub(super) struct Throughput {
    pub(super) concurrency: NonZeroUsize,
    pub(super) batch: NonZeroUsize,
    pub(super) texts: usize,
    /// Tokens by the embedded model's tokenizer, of each text as many as the model reads.
    pub(super) tokens: usize,
    pub(super) seconds: f64,
    pub(super) texts_per_second: f64,
    pub(super) tokens_per_second: f64,
}

/// A measurement that was not made.
#[derive(Debug, Serialize)]
pub(super) struct LeftOut {
    pub(super) batch: NonZeroUsize,
    pub(super) concurrency: NonZeroUsize,
    pub(super) reason: String,
}

impl Figures {
    pub(super) fn new(plan: &Plan) -> Self {
        let mut tokens = plan.texts.tokens();
        tokens.sort_unstable();
        let at = |place: usize| tokens.get(place).copied().unwrap_or_default();
        Self {
            schema_version: SCHEMA_VERSION,
            benchmark: "embed",
            version: env!("CARGO_PKG_VERSION"),
            texts: TextFigures {
                source: plan.texts.source.clone(),
                count: tokens.len(),
                tokens: [at(0), at(tokens.len() / 2), at(tokens.len() - 1)],
            },
            seconds: plan.time.as_secs_f64(),
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

    /// Notes what is known of a model once it is open.
    pub(super) fn enter(&mut self, embedder: &dyn Embedder, price: Price) {
        self.identity = Some(embedder.identity().clone());
        self.dimension = Some(embedder.dimension());
        self.max_tokens = embedder.max_tokens();
        self.usd_per_million_tokens = price.input;
    }

    /// Counts tokens that were asked for.
    pub(super) fn spend(&mut self, tokens: usize) {
        #[expect(clippy::cast_precision_loss, reason = "fewer tokens than 2^52")]
        let millions = tokens as f64 / 1e6;
        let cost = self.usd_per_million_tokens.map(|price| price * millions);
        self.usd_spent = cost.map(|cost| cost + self.usd_spent.unwrap_or(0.0));
    }
}
