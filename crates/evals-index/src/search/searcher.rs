use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use evals_rag::{Passage, Retrieved, SearchError, Searcher};

use super::hit::{self, Hit, Wanted};
use super::inquiry::Inquiry;
use super::timings::Timings;
use super::{Cache, Filter, passages};
use crate::contents::Contents;
use crate::{IndexError, Profile};

/// One profile over one index.
#[derive(Debug)]
pub(crate) struct IndexSearcher {
    pub(crate) contents: Arc<Contents>,
    pub(crate) profile: Profile,
    pub(crate) name: String,
    pub(crate) filter: Filter,
    /// How many chunks are fetched from each search, as long as they hold the documents asked for.
    pub(crate) candidates: NonZeroUsize,
    /// How many of the best passages are fetched with their texts.
    pub(crate) passages: usize,
    /// Of how many documents the best passage is fetched in any case.
    pub(crate) best_of: usize,
    /// Shared with the other searchers of the index; `None` computes everything for each question.
    pub(crate) cache: Option<Arc<Cache>>,
}

#[async_trait]
impl Searcher for IndexSearcher {
    fn profile(&self) -> &str {
        &self.name
    }

    async fn search(&self, question: &str, k: usize) -> Result<Retrieved, SearchError> {
        let retrieved = Box::pin(self.retrieve(question, k)).await;
        retrieved.map_err(SearchError::new)
    }
}

impl IndexSearcher {
    /// Deepens the search until `k` distinct documents are among its chunks, or there are no more chunks.
    async fn retrieve(&self, question: &str, k: usize) -> Result<Retrieved, IndexError> {
        let positions = &self.contents.positions;
        let k = k.min(positions.documents());
        if k == 0 {
            return Ok(Retrieved::default());
        }
        let cache = self.cache.clone().unwrap_or_default();
        let mut timings = Timings::default();
        let mut depth = self.candidates.get().min(positions.chunks()).max(k);
        let found = loop {
            let mut inquiry = Inquiry {
                contents: &self.contents,
                filter: &self.filter,
                cache: &cache,
                question,
                depth,
                timings: &mut timings,
            };
            let found = Box::pin(inquiry.find(self.profile)).await?;
            if found.exhausted || hit::distinct_documents(&found.hits, positions) >= k {
                break found;
            }
            depth = depth.saturating_mul(2);
        };
        Ok(Retrieved {
            ranking: hit::best_documents(&found.hits, k, positions)?,
            passages: self.fetch_passages(&found.hits, k, &mut timings).await?,
            timings: timings.into_stages(),
            usage: None,
        })
    }

    /// The best chunks of the `k` best documents, as many as were asked for, and the best one of each of the first documents.
    async fn fetch_passages(
        &self,
        hits: &[Hit],
        k: usize,
        timings: &mut Timings,
    ) -> Result<Vec<Passage>, IndexError> {
        if self.passages == 0 && self.best_of == 0 {
            return Ok(Vec::new());
        }
        let positions = &self.contents.positions;
        let wanted = Wanted {
            chunks: self.passages,
            best_of: self.best_of,
        };
        let best = hit::of_best_documents(hits, k, wanted, positions);
        timings
            .measure(
                "passages",
                passages::fetch(&best, &self.contents.table, positions),
            )
            .await
    }
}
