//! Opens the search of a profile.

use std::sync::Arc;

use crate::index_bar::BatchBar;
use anyhow::{Context as _, Result};
use evals_index::{CachePolicy, QuestionBatch, SearchOptions};
use evals_rag::Searcher;
use evals_rag::reranking::RerankedSearcher;

use super::preparation::Run;
use crate::search_profile::SearchProfile;

/// A query that no dataset contains. It makes the engine load what the first search needs before anything is timed.
const WARM_UP: &str = "warm-up";

/// How many documents a search looks for, and how many passages it returns.
#[derive(Debug, Clone, Copy)]
pub(super) struct SearchDepth {
    pub(super) documents: usize,
    pub(super) passages: usize,
}

/// Opens the search of `profile` and warms it up. It does not warm up a reranker, which may cost money. The questions of a batch are
/// searched in groups.
pub(super) async fn open(
    run: Run<'_>,
    profile: SearchProfile,
    depth: SearchDepth,
    batch: Option<QuestionBatch>,
) -> Result<Arc<dyn Searcher>> {
    let arguments = run.arguments;
    let reranking = run.prepared.reranking.as_ref();
    let reranking = reranking.filter(|_| profile.rerank);
    // Both benchmarks use the same number, so that a reranker reads the same passages and cached replies serve both.
    let read = run.plan.resolved.settings.search.limit.get();
    let options = SearchOptions {
        filter: arguments.retrieval.filter.clone(),
        passages: reranking.map_or(depth.passages, |_| read.max(depth.passages)),
        best_of: reranking.map_or(0, |reranking| reranking.candidates.get()),
        cache: cache_policy(run),
        ..SearchOptions::default()
    };
    let index = &run.prepared.ready.index;
    let searcher = match batch {
        None => index.searcher(profile.base, &options).await?,
        Some(batch) => {
            let bar = Arc::new(BatchBar::new(run.session.printer));
            index
                .batch_searcher(profile.base, &options, batch, bar)
                .await?
        }
    };
    searcher
        .search(WARM_UP, depth.documents)
        .await
        .with_context(|| format!("cannot search by `{}`", profile.base))?;
    Ok(match reranking {
        None => searcher,
        Some(reranking) => {
            let reranker = Arc::clone(&reranking.reranker);
            let reranked = RerankedSearcher::new(searcher, reranker, reranking.candidates);
            Arc::new(reranked.passages(depth.passages))
        }
    })
}

/// Caches results if several searches of this run share them. Repetitions are never cached, because a cached repetition would repeat
/// nothing.
fn cache_policy(run: Run<'_>) -> CachePolicy {
    let retrieval = if run.plan.retrieval {
        run.plan.profiles.len()
    } else {
        0
    };
    let searches = retrieval + usize::from(run.plan.qa.is_some());
    if searches > 1 && run.arguments.control.repeat.get() == 1 {
        CachePolicy::Shared
    } else {
        CachePolicy::Fresh
    }
}
