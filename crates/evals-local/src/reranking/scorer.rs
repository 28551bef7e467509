//! What all rerankers share: texts go through the threads of the model, and their scores are checked.

use std::fmt::Debug;
use std::sync::Arc;

use async_trait::async_trait;

use crate::encoder::Scratch;
use crate::error::LocalError;
use crate::folder::Folder;
use crate::model::{named, threads};
use crate::settings::LocalSettings;
use crate::tokenizer::Encoded;
use crate::workers::{Computed, Failed, TextFault, Timed, Workers};
use evals_models::{ModelIdentity, RerankError, Reranked, Reranker};

/// Scores texts for a query.
pub(super) trait Scorer: Debug + Send + Sync + 'static {
    /// What is made of a query once, before the texts are scored.
    type Query: Send + Sync + 'static;

    /// Reads a query.
    fn query(
        self: Arc<Self>,
        query: String,
        workers: &Workers,
    ) -> impl Future<Output = Result<Timed<Self::Query>, Failed>> + Send;

    /// The tokens of a text.
    fn encode(&self, query: &Self::Query, text: &str) -> Result<Encoded, tokenizers::Error>;

    /// The score of each text.
    fn scores(&self, query: &Self::Query, texts: &[&Encoded], scratch: &mut Scratch) -> Vec<f32>;
}

/// A reranker run in the process.
#[derive(Debug)]
pub(super) struct LocalReranker<S> {
    identity: ModelIdentity,
    scorer: Arc<S>,
    workers: Workers,
}

impl<S: Scorer> LocalReranker<S> {
    /// Starts the threads of a model. `digest` covers everything that scores depend on.
    pub(super) fn start(
        folder: &Folder,
        settings: &LocalSettings,
        scorer: S,
        digest: String,
    ) -> Result<Self, LocalError> {
        Ok(Self {
            identity: named(folder, settings, digest),
            scorer: Arc::new(scorer),
            workers: Workers::start(threads(settings))?,
        })
    }

    async fn scores(&self, query: &str, texts: &[&str]) -> Result<Timed<Vec<f32>>, Failed> {
        let scorer = Arc::clone(&self.scorer);
        let query = scorer.query(query.to_owned(), &self.workers).await?;
        let (query, before) = (Arc::new(query.value), query.took);
        let (scorer, asked) = (Arc::clone(&self.scorer), Arc::clone(&query));
        let encode = move |text: &str| scorer.encode(&asked, text);
        let scorer = Arc::clone(&self.scorer);
        let score =
            move |texts: &[&Encoded], scratch: &mut Scratch| scorer.scores(&query, texts, scratch);
        let Computed { results, .. } = self.workers.compute(texts, encode, score).await?;
        match results.value.iter().position(|score| !score.is_finite()) {
            Some(index) => Err(TextFault::Score { index }.into()),
            None => Ok(results.after(before)),
        }
    }
}

#[async_trait]
impl<S: Scorer> Reranker for LocalReranker<S> {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    /// How many pairs were truncated so far.
    fn notes(&self) -> Vec<String> {
        self.workers.notes("pair")
    }

    /// Ignores `repeat`: every forward pass computes the same scores.
    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        _repeat: u32,
    ) -> Result<Reranked, RerankError> {
        let scores = self.scores(query, texts).await;
        let scores = scores.map_err(|source| RerankError {
            model: self.identity.clone(),
            texts: texts.len(),
            failure: TextFault::failure(&source),
            source,
        })?;
        Ok(Reranked {
            scores: scores.value,
            usage: None,
            service_time: scores.took,
            cached: false,
        })
    }
}
