//! Rerankers that read query and text together.

use std::error::Error;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;

use super::scores::{comparable, reranked};
use super::scoring::Scoring;
use crate::digest;
use crate::encoder::Scratch;
use crate::error::LocalError;
use crate::folder::Folder;
use crate::model::{Model, named, numbers, threads};
use crate::role;
use crate::settings::LocalSettings;
use crate::tokenizer::Encoded;
use crate::workers::{Timed, Workers};
use evals_models::wording::truncation_note;
use evals_models::{ModelIdentity, RerankError, Reranked, Reranker};

/// A cross-encoder run in the process. It is either a classifier with one output: ms-marco-MiniLM (BERT), bge-reranker
/// (XLM-RoBERTa), gte-reranker-modernbert (`ModernBERT`), mxbai-rerank v1 (`DeBERTa`). Or it is a language model that is asked
/// whether the text answers the query: Qwen3-Reranker (Qwen3), mxbai-rerank v2 (Qwen2).
///
/// Scores are the output of the classifier, or the log-odds of the language model's answers: the logit of `yes` minus that of `no`.
/// No sigmoid is applied, which would crowd high scores together; the sigmoid of a score is the probability that model cards state.
/// The score of a text is the same to the last bit in every batch.
#[derive(Debug)]
pub struct LocalReranker {
    identity: ModelIdentity,
    scorer: Arc<Scorer>,
    workers: Workers,
    /// Number of truncated pairs.
    cut: AtomicU64,
}

/// Computes the score of a pair.
#[derive(Debug)]
struct Scorer {
    model: Model,
    scoring: Scoring,
}

impl LocalReranker {
    /// Loads a cross-encoder from a folder as the hub lays it out, or from a repository in the hub's cache.
    ///
    /// It uses `name`, `max_tokens`, `dtype` and `threads` of `settings`. Language models also use `instruction` and `rerank_prompt`,
    /// which are errors with classifiers. `max_tokens` limits a whole pair: truncation cuts the longer text first, or the document in
    /// the prompt of a language model.
    pub fn open(path: impl AsRef<Path>, settings: &LocalSettings) -> Result<Self, LocalError> {
        let folder = Folder::open(path.as_ref())?;
        role::check_reranker(&folder, settings)?;
        let (model, scoring) = Model::open(&folder, settings.dtype, |parts| {
            Scoring::load(&folder, settings, parts)
        })?;
        let (scoring, model, window) = scoring.limited(&folder, settings, model)?;
        let fingerprint = scoring.fingerprint(&model.tokens);
        let fingerprint = fingerprint.map_err(|source| folder.tokenizer_error(source))?;
        let rest = digest::short(&[
            &folder.bytes("config.json")?.unwrap_or_default(),
            &folder.bytes("tokenizer.json")?.unwrap_or_default(),
            model.tokens.fingerprint().as_bytes(),
            &fingerprint,
        ]);
        let digest = format!(
            "sha256:{},{window},{},{rest}",
            model.digest,
            numbers(settings.dtype)
        );
        Ok(Self {
            identity: named(&folder, settings, digest),
            scorer: Arc::new(Scorer { model, scoring }),
            workers: Workers::start(threads(settings))?,
            cut: AtomicU64::new(0),
        })
    }

    async fn scores(
        &self,
        query: &str,
        texts: &[&str],
    ) -> Result<Timed<Vec<f32>>, Box<dyn Error + Send + Sync>> {
        let (scorer, query) = (Arc::clone(&self.scorer), query.to_owned());
        let encode = move |text: &str| scorer.encode(&query, text);
        let encoded = self.workers.tokenize(texts, encode).await?;
        let cut = encoded.value.iter().filter(|pair| pair.is_cut).count();
        self.cut.fetch_add(cut as u64, Ordering::Relaxed);
        let scorer = Arc::clone(&self.scorer);
        let score = move |pairs: &[&Encoded], scratch: &mut Scratch| scorer.scores(pairs, scratch);
        let scores = self.workers.compute(encoded.value, score).await?;
        comparable(scores.after(encoded.took))
    }
}

impl Scorer {
    fn encode(&self, query: &str, text: &str) -> Result<Encoded, tokenizers::Error> {
        self.scoring.encode(&self.model.tokens, query, text)
    }

    fn scores(&self, pairs: &[&Encoded], scratch: &mut Scratch) -> Vec<f32> {
        let width = self.model.encoder.width();
        let hidden = self.model.encode(pairs, scratch);
        let mut rest = hidden.as_slice();
        pairs
            .iter()
            .map(|pair| {
                let (tokens, after) = rest.split_at(pair.ids.len() * width);
                rest = after;
                self.scoring.score(tokens, width, scratch)
            })
            .collect()
    }
}

#[async_trait]
impl Reranker for LocalReranker {
    fn identity(&self) -> &ModelIdentity {
        &self.identity
    }

    /// How many pairs were truncated so far.
    fn notes(&self) -> Vec<String> {
        let note = truncation_note(self.cut.load(Ordering::Relaxed), "pair");
        note.into_iter().collect()
    }

    /// Ignores `repeat`: every forward pass computes the same scores.
    async fn rerank(
        &self,
        query: &str,
        texts: &[&str],
        _repeat: u32,
    ) -> Result<Reranked, RerankError> {
        let scores = self.scores(query, texts).await;
        reranked(&self.identity, texts.len(), scores)
    }
}
