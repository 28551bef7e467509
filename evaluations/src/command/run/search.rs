//! The search of a profile, ready to be asked.

use std::sync::Arc;

use anyhow::{Context as _, Result};
use evals_index::{CachePolicy, SearchOptions};
use evals_rag::Searcher;
use evals_rag::reranking::RerankedSearcher;

use super::preparation::Run;
use crate::search_profile::SearchProfile;

/// A question that no dataset asks, to load what a first search loads before anything is timed.
const WARM_UP: &str = "warm-up";

/// How deep a search will go, and how many passages it returns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    pub(super) documents: usize,
    pub(super) passages: usize,
}

/// Opens the search of `profile` and warms it up. A reranker is not warmed up, as it may cost money.
pub(super) async fn open(
    run: Run<'_>,
    profile: SearchProfile,
    depth: Depth,
) -> Result<Arc<dyn Searcher>> {
    let arguments = run.arguments;
    let reranking = run.prepared.reranking.as_ref();
    let reranking = reranking.filter(|_| profile.rerank);
    // The same in both benchmarks, so that a reranker reads the same in both, and stored replies serve both.
    let read = run.plan.resolved.settings.search.limit.get();
    let options = SearchOptions {
        filter: arguments.retrieval.filter.clone(),
        passages: reranking.map_or(depth.passages, |_| read.max(depth.passages)),
        best_of: reranking.map_or(0, |reranking| reranking.candidates.get()),
        cache: cache_policy(run),
        ..SearchOptions::default()
    };
    let index = &run.prepared.ready.index;
    let searcher = index.searcher(profile.base, &options).await?;
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

/// Results are kept where another search of this run asks for them again. A repetition that found its results in a cache would
/// repeat nothing.
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
