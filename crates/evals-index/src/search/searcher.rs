//! A profile as a searcher: it deepens its searches until they hold enough documents.

use std::num::NonZeroUsize;
use std::sync::Arc;

use async_trait::async_trait;
use evals_rag::{Passage, Retrieved, SearchError, Searcher};
use futures::try_join;

use super::cache::{Cached, Embedded, LegKey};
use super::hit::{self, FoundChunks, Hit, WantedChunks};
use super::leg::Leg;
use super::timings::Timings;
use super::{Cache, Filter, UsualTies, batch, fusion, passages, question, unranked};
use crate::error::IndexError;
use crate::profile::Profile;
use crate::table::contents::Contents;
use crate::vector_table::VectorTable;

/// Fewest chunks that the first attempt of a single search asks for.
const FEWEST: usize = 64;
/// Factor by which each further attempt goes deeper, and the first attempt goes deeper than the number of documents.
const DEEPER: usize = 4;

/// One profile over one index.
#[derive(Debug)]
pub(crate) struct IndexSearcher {
    pub(crate) contents: Arc<Contents>,
    pub(crate) profile: Profile,
    pub(crate) name: String,
    pub(crate) filter: Filter,
    /// How many chunks each fused or shared search returns, if these belong to enough documents.
    pub(crate) candidates: NonZeroUsize,
    /// How many of the best passages are read.
    pub(crate) passages: usize,
    /// For how many documents the best passage is read in any case.
    pub(crate) best_of: usize,
    /// Shared with the other searchers of the index; `None` computes everything again for each question.
    pub(crate) cache: Option<Arc<Cache>>,
    pub(crate) ties: UsualTies,
    /// The approximate search of the vectors; `None` for exact search.
    pub(crate) approximate: Option<Arc<VectorTable>>,
}

#[async_trait]
impl Searcher for IndexSearcher {
    fn profile(&self) -> &str {
        &self.name
    }

    async fn search(&self, question: &str, k: usize) -> Result<Retrieved, SearchError> {
        let retrieve = async {
            if k == 0 {
                return Ok(Retrieved::default());
            }
            let cache = self.cache.clone().unwrap_or_default();
            let embedded = self.embed(question, &cache).await?;
            self.retrieve(question, k, &cache, embedded.as_ref()).await
        };
        let retrieved = self.contents.guarded(Box::pin(retrieve)).await;
        retrieved.map_err(SearchError::from)
    }
}

impl IndexSearcher {
    /// The question's embedding, if the profile needs one and the question has text.
    pub(super) async fn embed(
        &self,
        question: &str,
        cache: &Cache,
    ) -> Result<Option<Cached<Embedded>>, IndexError> {
        if !self.profile.needs_embeddings() {
            return Ok(None);
        }
        question::embed(&self.contents, cache, question).await
    }

    /// Deepens the search until its chunks belong to `k` distinct documents, or no chunks are left.
    pub(super) async fn retrieve(
        &self,
        question: &str,
        k: usize,
        cache: &Cache,
        embedded: Option<&Cached<Embedded>>,
    ) -> Result<Retrieved, IndexError> {
        let positions = &self.contents.positions;
        let k = k.min(positions.documents());
        if k == 0 {
            return Ok(Retrieved::default());
        }
        let mut timings = Timings::default();
        if let Some(embedded) = embedded {
            timings.add_embedding(embedded);
        }
        let mut depth = self.first_depth(k);
        let found = loop {
            let inquiry = Inquiry {
                searcher: self,
                cache,
                question,
                embedded: embedded.map(|embedded| embedded.value.as_ref()),
                depth,
            };
            let found = Box::pin(inquiry.find(&mut timings)).await?;
            if found.exhausted || hit::has_documents(&found.hits, k, positions) {
                break found;
            }
            depth = deeper(depth);
        };
        Ok(Retrieved {
            ranking: hit::best_documents(&found.hits, k, positions)?,
            passages: self.fetch_passages(&found.hits, k, &mut timings).await?,
            timings: timings.into_stages(),
            ..Retrieved::default()
        })
    }

    /// A search by the engine, at this depth.
    pub(super) async fn search_leg(
        &self,
        leg: Leg<'_>,
        depth: usize,
    ) -> Result<FoundChunks, IndexError> {
        leg.search(&self.contents, &self.filter, &self.ties, depth)
            .await
    }

    /// The place of a search's result in the cache.
    pub(super) fn leg_key(&self, leg: &'static str, question: &str, depth: usize) -> LegKey {
        LegKey {
            leg,
            question: question.to_owned(),
            filter: self.filter.sql().map(ToOwned::to_owned),
            depth,
        }
    }

    /// Chunks that the first attempt asks for, for the `k` best documents. Fused scores depend on this number, and shared results need the same number. A single
    /// search that is not shared goes no deeper than necessary, unless it returns more passages than documents: the number of
    /// passages of `k` documents depends on the depth, too. An approximate search promises none of this, and goes as deep as that of a service.
    pub(super) fn first_depth(&self, k: usize) -> usize {
        let depth = match (self.profile, &self.cache) {
            (Profile::Semantic, _) if self.approximate.is_some() => {
                let wanted = k.max(self.passages);
                wanted.saturating_mul(DEEPER).max(FEWEST)
            }
            (Profile::Bm25 | Profile::Semantic, None) if self.passages <= k => {
                let positions = &self.contents.positions;
                // If each document is one chunk, this many chunks are this many documents.
                let chunks = positions.chunks().div_ceil(positions.documents().max(1));
                k.saturating_mul(DEEPER.min(chunks)).max(FEWEST)
            }
            _ => self.candidates.get(),
        };
        depth.min(self.contents.positions.chunks()).max(k)
    }

    /// The passages that the options ask for, all of the `k` best documents.
    async fn fetch_passages(
        &self,
        hits: &[Hit],
        k: usize,
        timings: &mut Timings,
    ) -> Result<Vec<Passage>, IndexError> {
        if !self.wants_passages() {
            return Ok(Vec::new());
        }
        let best = self.passages_among(hits, k);
        let Contents {
            table, positions, ..
        } = self.contents.as_ref();
        let fetch = passages::fetch(&best, table, positions);
        timings.measure("passages", fetch).await
    }

    pub(super) fn wants_passages(&self) -> bool {
        self.passages > 0 || self.best_of > 0
    }

    /// The chunks among sorted ones whose texts the options ask for.
    pub(super) fn passages_among(&self, hits: &[Hit], k: usize) -> Vec<Hit> {
        let wanted = WantedChunks {
            chunks: self.passages,
            best_of: self.best_of,
        };
        hit::of_best_documents(hits, k, wanted, &self.contents.positions)
    }
}

/// One question to an index, at one depth.
#[derive(Debug)]
struct Inquiry<'a> {
    searcher: &'a IndexSearcher,
    cache: &'a Cache,
    question: &'a str,
    /// The question's embedding, if the profile needs one; `None` for a question without text, to which nothing is similar.
    embedded: Option<&'a Embedded>,
    /// Chunks taken from each search.
    depth: usize,
}

impl Inquiry<'_> {
    async fn find(&self, timings: &mut Timings) -> Result<Arc<FoundChunks>, IndexError> {
        let mut record = |stage: &str, result: Cached<FoundChunks>| {
            if let Some(duration) = result.value.duration {
                timings.add(stage, duration, result.hit);
            }
            result.value
        };
        let positions = &self.searcher.contents.positions;
        Ok(match self.searcher.profile {
            Profile::Unranked => record("unranked", self.unranked().await?),
            Profile::Bm25 => record("bm25", self.bm25().await?),
            Profile::Semantic => record("semantic", self.semantic().await?),
            Profile::Hybrid(method) => {
                let legs = try_join!(Box::pin(self.bm25()), Box::pin(self.semantic()))?;
                let lexical = record("bm25", legs.0);
                let semantic = record("semantic", legs.1);
                let value = Arc::new(fusion::fused(method, &lexical, &semantic, positions));
                record("fuse", Cached { value, hit: false })
            }
        })
    }

    async fn bm25(&self) -> Result<Cached<FoundChunks>, IndexError> {
        let (searcher, question) = (self.searcher, self.question);
        let search = searcher.search_leg(Leg::Bm25 { question }, self.depth);
        let key = searcher.leg_key("bm25", question, self.depth);
        self.cache.legs.get(key, search).await
    }

    async fn semantic(&self) -> Result<Cached<FoundChunks>, IndexError> {
        let search = async {
            let Some(Embedded { vector, .. }) = self.embedded else {
                return Ok(FoundChunks::nothing());
            };
            let searcher = self.searcher;
            if let Some(index) = searcher.approximate.as_deref() {
                let leg = Leg::Approximate { vector, index };
                return searcher.search_leg(leg, self.depth).await;
            }
            let (contents, filter) = (&searcher.contents, &searcher.filter);
            // On the heap: the futures of a scan are large.
            Box::pin(batch::nearest_to(contents, filter, vector, self.depth)).await
        };
        let key = self.searcher.leg_key("semantic", self.question, self.depth);
        self.cache.legs.get(key, search).await
    }

    /// The ranking that is the same for all questions, so that it is computed once.
    async fn unranked(&self) -> Result<Cached<FoundChunks>, IndexError> {
        let (contents, filter) = (&self.searcher.contents, &self.searcher.filter);
        let search = unranked::search(&contents.table, &contents.positions, filter, self.depth);
        let key = self.searcher.leg_key("unranked", "", self.depth);
        self.cache.legs.get(key, search).await
    }
}

/// The depth of the attempt after one of this depth.
pub(super) fn deeper(depth: usize) -> usize {
    depth.saturating_mul(DEEPER)
}
