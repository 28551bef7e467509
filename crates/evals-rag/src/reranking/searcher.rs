//! A searcher that has the candidates of another one reranked.

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

/// Has a [`Reranker`] put the best documents of another search into a new order.
///
/// Of the first `candidates` documents it reads the passages that the inner searcher returns, each after its document's
/// title. A document ranks by its best passage. Among equal scores the old order stays: a model that knows eleven grades
/// should not have its ties decided by the names of documents. Documents beyond the candidates, and candidates of which there
/// is no passage, follow in their old order.
///
/// Scores are the reranker's, lowered a little where they would tie, so that they give this order to any tool that reads
/// them.
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
    /// A search by `inner`, whose first `candidates` documents `reranker` reads. `inner` has to return a passage of each of
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

    /// Returns only so many of the passages that were read; default: all of the documents in the ranking.
    #[must_use]
    pub fn passages(self, passages: usize) -> Self {
        Self { passages, ..self }
    }

    /// Passages that come from the first documents, with the reranker's scores.
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
            // Without the sign of a negative zero, which would break a tie that is none.
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
        // In the order of the ranking where scores are equal, and within a document in the old order.
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
        })
    }
}

/// What a reranker reads of a passage.
fn text(passage: &Passage) -> String {
    match &passage.title {
        Some(title) if !title.is_empty() => format!("{title}\n{}", passage.text),
        _ => passage.text.clone(),
    }
}

/// The documents of `old` by the best of their scored passages, those without one behind.
fn reordered(old: &Ranking, scored: &[Passage]) -> Result<Ranking, RankingError> {
    let mut best: BTreeMap<&str, f32> = BTreeMap::new();
    for passage in scored {
        let best = best.entry(&passage.document).or_insert(passage.score);
        *best = best.max(passage.score);
    }
    let score = |document: &ScoredDocument| best.get(document.id.as_str()).copied();
    let mut documents: Vec<&ScoredDocument> = old.iter().collect();
    // Stable. Those without a score are less than all others.
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

/// A score that is less in single precision, and reads as such in a text.
fn below(score: f32) -> f32 {
    /// A millionth is eight units in the last place of 1.
    const STEP: f32 = 1e-6;
    score - (score.abs() * STEP).max(STEP)
}
