//! Searching a corpus: the trait of searchers, and their results.

use std::collections::BTreeSet;
use std::error::Error;
use std::fmt::Debug;
use std::mem;
use std::time::Duration;

use async_trait::async_trait;
use evals::{TaskScope, Timing};
use evals_metrics::{Ranking, RankingError, ScoredDocument};
use evals_models::{RerankError, Usage};
use serde::{Deserialize, Serialize};

use crate::call::{self, Purpose};
use crate::{Missing, Passage};

/// Ranks the documents of a corpus for a question.
///
/// A question has to give the same ranking every time, because reports are compared byte by byte.
#[async_trait]
pub trait Searcher: Debug + Send + Sync {
    /// The search profile's name, as reports print it.
    fn profile(&self) -> &str;

    /// Returns the `k` best documents, or all of them if the corpus or the profile finds fewer.
    async fn search(&self, question: &str, k: usize) -> Result<Retrieved, SearchError>;

    /// The same for the repetition `repeat`, from 1. Only a searcher that asks a model with stored replies needs to distinguish
    /// repetitions; the others ignore it.
    async fn search_again(
        &self,
        question: &str,
        k: usize,
        _repeat: u32,
    ) -> Result<Retrieved, SearchError> {
        self.search(question, k).await
    }
}

/// The result of a search.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Retrieved {
    /// The best documents, each once.
    pub ranking: Ranking,
    /// The best chunks with their texts, best first; empty if the caller asked only for the ranking.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub passages: Vec<Passage>,
    /// The service time of each stage (`embed`, `bm25`, `semantic`, `fuse` …), without queueing. Reports store timings
    /// outside the output, because outputs repeat to the byte and timings do not.
    #[serde(skip)]
    pub timings: Vec<Timing>,
    /// Whether the run searched the question together with all others, so that this search has no separate time.
    #[serde(skip)]
    pub in_batch: bool,
    /// How long the search had to wait for other work before it began, which does not count as its time.
    #[serde(skip)]
    pub waited: Duration,
    /// Tokens that a reranker used, if there is one that reports them. They become metrics of the case.
    #[serde(skip)]
    pub usage: Option<Usage>,
    /// The parts that a system under test did not return; our own searches return everything.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<Missing>,
}

impl Retrieved {
    /// Why a case is [untimed](TaskScope::untimed) whose question was searched together with others.
    pub const IN_BATCH: &str = "searched with all questions at once";

    /// Why rank measures are undefined for the ranking: the target returned none, or none of the corpus.
    pub fn unranked(&self) -> Option<&'static str> {
        let mut missing = [Missing::Documents, Missing::Matches].into_iter();
        let missing = missing.find(|it| self.missing.contains(it))?;
        Some(missing.reason())
    }

    /// Records the timings of the stages, with cached ones separate, and the tokens of a reranker. Takes the timings out,
    /// because they belong to the report and not to the output.
    pub(crate) fn record(&mut self, scope: &TaskScope) {
        for timing in mem::take(&mut self.timings) {
            if timing.cached {
                scope.cached_timing(timing.stage, timing.duration);
            } else {
                scope.timing(timing.stage, timing.duration);
            }
        }
        if self.in_batch {
            scope.untimed(Self::IN_BATCH);
        }
        scope.leave_out(self.waited);
        if let Some(usage) = self.usage {
            call::record_usage(usage, Purpose::Reranker, scope);
        }
    }
}

/// Longer rankings are cut: scores are single-precision numbers, which are exact up to this.
const LONGEST: usize = 1 << 24;

/// The documents in the order of the ids, each counted once. Their scores count down to 1.
pub fn ranking_in_order(ids: impl IntoIterator<Item = String>) -> Result<Ranking, RankingError> {
    let mut seen = BTreeSet::new();
    let distinct = ids.into_iter().filter(|id| seen.insert(id.clone()));
    let distinct: Vec<String> = distinct.take(LONGEST).collect();
    let scores = (1..=distinct.len()).rev();
    #[expect(
        clippy::cast_precision_loss,
        reason = "exact up to the longest ranking"
    )]
    let documents = distinct.into_iter().zip(scores).map(|(id, score)| {
        let score = score as f32;
        ScoredDocument { id, score }
    });
    Ranking::new(documents)
}

/// Why a search failed.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct SearchError(Box<dyn Error + Send + Sync>);

/// An error of every further search, too.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
struct OfEverySearch(Box<dyn Error + Send + Sync>);

impl SearchError {
    /// Wraps the error of a search engine.
    pub fn new(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self(source.into())
    }

    /// Wraps an error that every further search would have, too, such as a store that no longer answers. It ends the experiment.
    pub fn of_every_search(source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        Self::new(OfEverySearch(source.into()))
    }

    /// Whether every further search would fail.
    pub(crate) fn is_of_every_search(&self) -> bool {
        self.0.is::<OfEverySearch>()
    }

    /// The error of the reranker, if the reranker failed.
    pub fn reranking(&self) -> Option<&RerankError> {
        self.0.downcast_ref()
    }
}
