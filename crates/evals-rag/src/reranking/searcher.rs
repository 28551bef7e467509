//! A searcher that reranks the results of another one.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use evals_messages::quantity;
use evals_metrics::{Ranking, RankingError, ScoredDocument};
use evals_models::{Failure, RerankError, Reranked, Reranker};
use thiserror::Error;

use crate::call::Purpose;
use crate::{Passage, Retrieved, SearchError, Searcher, StageTiming};

/// Reorders the best documents of another search with a [`Reranker`].
///
/// The reranker reads the passages of the first `candidates` documents, each after its document's title. A document ranks by
/// its best passage. Ties keep the old order: models with only eleven grades tie often, and document ids should not decide.
/// Documents beyond the candidates, and candidates without a passage, follow in their old order.
///
/// Scores are the reranker's. Tied scores are lowered slightly, so every tool that reads them gets the same order.
#[derive(Debug)]
pub struct RerankedSearcher {
    inner: Arc<dyn Searcher>,
    reranker: Arc<dyn Reranker>,
    candidates: NonZeroUsize,
    passages: usize,
    name: String,
}

/// The reranker did not return one finite score for each text.
#[derive(Debug, Error)]
#[error(
    "the reranker returned {} for {}",
    quantity::of(*scores, "finite score"),
    quantity::of(*texts, "text")
)]
struct UnsoundError {
    scores: usize,
    texts: usize,
}

impl RerankedSearcher {
    /// Wraps `inner` and lets `reranker` read its first `candidates` documents. `inner` has to return a passage of each of
    /// them.
    pub fn new(
        inner: Arc<dyn Searcher>,
        reranker: Arc<dyn Reranker>,
        candidates: NonZeroUsize,
    ) -> Self {
        Self {
            name: format!("{}+rerank", inner.profile()),
            inner,
            reranker,
            candidates,
            passages: usize::MAX,
        }
    }

    /// Limits the number of returned passages; default: all passages of the ranked documents.
    #[must_use]
    pub fn passages(self, passages: usize) -> Self {
        Self { passages, ..self }
    }

    /// The passages of the first documents, with the reranker's scores.
    async fn score(
        &self,
        question: &str,
        found: &Retrieved,
        repeat: u32,
    ) -> Result<(Vec<Passage>, Reranked), SearchError> {
        let candidates = found.ranking.iter().take(self.candidates.get());
        let candidates: Vec<&str> = candidates.map(|it| it.id.as_str()).collect();
        let mut passages = found.passages.clone();
        passages.retain(|passage| candidates.contains(&passage.document.as_str()));
        let texts: Vec<String> = passages.iter().map(text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let reranked = self.reranker.rerank(question, &texts, repeat).await;
        let reranked = reranked.map_err(SearchError::new)?;
        self.check(&reranked, texts.len())?;
        for (passage, score) in passages.iter_mut().zip(&reranked.scores) {
            // Removes the sign of a negative zero, which would break a tie.
            passage.score = *score + 0.0;
        }
        Ok((passages, reranked))
    }

    fn check(&self, reranked: &Reranked, texts: usize) -> Result<(), SearchError> {
        let scores = reranked.scores.iter().filter(|score| score.is_finite());
        let scores = scores.count();
        if scores == texts && reranked.scores.len() == texts {
            return Ok(());
        }
        Err(SearchError::new(RerankError {
            model: self.reranker.identity().clone(),
            texts,
            failure: Failure::Terminal,
            source: Box::new(UnsoundError { scores, texts }),
        }))
    }
}

#[async_trait]
impl Searcher for RerankedSearcher {
    fn profile(&self) -> &str {
        &self.name
    }

    async fn search(&self, question: &str, k: usize) -> Result<Retrieved, SearchError> {
        self.search_again(question, k, 1).await
    }

    async fn search_again(
        &self,
        question: &str,
        k: usize,
        repeat: u32,
    ) -> Result<Retrieved, SearchError> {
        let depth = k.max(self.candidates.get());
        let found = self.inner.search_again(question, depth, repeat).await?;
        let (mut passages, reranked) = self.score(question, &found, repeat).await?;
        let mut ranking = reordered(&found.ranking, &passages).map_err(SearchError::new)?;
        ranking.truncate(k);
        // Ties keep the order of the ranking and, within a document, the old order.
        let places = ranking.iter().zip(0_usize..);
        let places: BTreeMap<&str, usize> =
            places.map(|(it, place)| (it.id.as_str(), place)).collect();
        passages.retain(|passage| places.contains_key(passage.document.as_str()));
        passages.sort_by(|left, right| {
            let place = |passage: &Passage| places.get(passage.document.as_str());
            let order = right.score.total_cmp(&left.score);
            order.then_with(|| place(left).cmp(&place(right)))
        });
        passages.truncate(self.passages);
        let mut timings = found.timings;
        timings.push(StageTiming {
            stage: Purpose::Reranker.stage().to_owned(),
            duration: reranked.service_time,
            cached: reranked.cached,
        });
        Ok(Retrieved {
            ranking,
            passages,
            timings,
            usage: reranked.usage,
            in_batch: found.in_batch,
            waited: found.waited,
            missing: found.missing,
        })
    }
}

/// The text of a passage for the reranker.
fn text(passage: &Passage) -> String {
    match &passage.title {
        Some(title) if !title.is_empty() => format!("{title}\n{}", passage.text),
        _ => passage.text.clone(),
    }
}

/// The documents of `old` by their best scored passage, followed by those without one.
fn reordered(old: &Ranking, scored: &[Passage]) -> Result<Ranking, RankingError> {
    let mut best: BTreeMap<&str, f32> = BTreeMap::new();
    for passage in scored {
        let best = best.entry(&passage.document).or_insert(passage.score);
        *best = best.max(passage.score);
    }
    let score = |document: &ScoredDocument| best.get(document.id.as_str()).copied();
    let mut documents: Vec<&ScoredDocument> = old.iter().collect();
    // A stable sort; documents without a score come last.
    documents.sort_by(|left, right| match (score(left), score(right)) {
        (Some(left), Some(right)) => right.total_cmp(&left),
        (left, right) => right.is_some().cmp(&left.is_some()),
    });
    let mut last = None;
    Ranking::new(documents.into_iter().map(|document| {
        let own = score(document);
        let score = match (last.map(below), own) {
            (None, own) => own.unwrap_or(document.score),
            (Some(below), None) => below,
            (Some(below), Some(own)) => own.min(below),
        };
        last = Some(score);
        ScoredDocument {
            id: document.id.clone(),
            score,
        }
    }))
}

/// A score that is less in single precision, also after it is printed and read.
fn below(score: f32) -> f32 {
    /// A millionth is eight units in the last place of 1.
    const STEP: f32 = 1e-6;
    score - (score.abs() * STEP).max(STEP)
}
