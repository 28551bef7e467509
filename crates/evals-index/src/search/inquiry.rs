//! One question to an index: which searches a profile runs for it, and which of their results come from the cache.

use std::sync::Arc;
use std::time::Instant;

use evals_models::TextKind;
use futures::try_join;

use super::cache::{Cached, Embedded, LegKey};
use super::hit::{self, Found};
use super::leg::Leg;
use super::timings::Timings;
use super::{Cache, Filter, UsualTies, fusion, unranked};
use crate::embedding_defect;
use crate::error::IndexError;
use crate::profile::{Fusion, Profile};
use crate::table::contents::Contents;

/// One question to an index, at one depth.
#[derive(Debug)]
pub(super) struct Inquiry<'a> {
    pub(super) contents: &'a Contents,
    pub(super) filter: &'a Filter,
    pub(super) cache: &'a Cache,
    pub(super) question: &'a str,
    pub(super) ties: &'a UsualTies,
    /// Chunks taken from each search.
    pub(super) depth: usize,
    pub(super) timings: &'a mut Timings,
}

impl Inquiry<'_> {
    pub(super) async fn find(&mut self, profile: Profile) -> Result<Arc<Found>, IndexError> {
        match profile {
            Profile::Unranked => {
                let result = self.unranked().await?;
                Ok(self.record("unranked", result))
            }
            Profile::Bm25 => {
                let result = self.bm25().await?;
                Ok(self.record("bm25", result))
            }
            Profile::Semantic => {
                let embedded = self.embed().await?;
                let result = self.semantic(embedded.as_deref()).await?;
                Ok(self.record("semantic", result))
            }
            Profile::Hybrid(method) => self.hybrid(method).await,
        }
    }

    async fn hybrid(&mut self, method: Fusion) -> Result<Arc<Found>, IndexError> {
        let embedded = self.embed().await?;
        let (lexical, semantic) = try_join!(
            Box::pin(self.bm25()),
            Box::pin(self.semantic(embedded.as_deref()))
        )?;
        let lexical = self.record("bm25", lexical);
        let semantic = self.record("semantic", semantic);
        let started = Instant::now();
        let mut hits = fusion::fuse(method, &lexical.hits, &semantic.hits);
        hit::sort(&mut hits, &self.contents.positions);
        let duration = started.elapsed();
        self.timings.add("fuse", duration, false);
        Ok(Arc::new(Found {
            hits,
            exhausted: lexical.exhausted && semantic.exhausted,
            duration,
        }))
    }

    fn record(&mut self, stage: &str, result: Cached<Found>) -> Arc<Found> {
        self.timings.add(stage, result.value.duration, result.hit);
        result.value
    }

    /// The question's embedding; `None` for a question without text, to which nothing is similar.
    async fn embed(&mut self) -> Result<Option<Arc<Embedded>>, IndexError> {
        if self.question.trim().is_empty() {
            return Ok(None);
        }
        let key = self.question.to_owned();
        let embedded = self
            .cache
            .embeddings
            .get(key, self.compute_embedding())
            .await?;
        let Embedded {
            duration, stored, ..
        } = *embedded.value;
        self.timings.add("embed", duration, embedded.hit || stored);
        Ok(Some(embedded.value))
    }

    async fn compute_embedding(&self) -> Result<Embedded, IndexError> {
        let failed = |source| IndexError::Question {
            question: self.question.to_owned(),
            source,
        };
        let embedder = self.contents.embedder()?;
        let started = Instant::now();
        let embeddings = embedder
            .embed(&[self.question], TextKind::Query)
            .await
            .map_err(|source| failed(source.into()))?;
        let duration = started.elapsed();
        let vector = embeddings.row(0).unwrap_or_default().to_vec();
        embedding_defect::check(&vector, embedder.dimension())
            .map_err(|source| failed(source.into()))?;
        Ok(Embedded {
            vector,
            duration: embeddings.took().unwrap_or(duration),
            stored: embeddings.is_cached(),
        })
    }

    async fn bm25(&self) -> Result<Cached<Found>, IndexError> {
        let leg = Leg::Bm25 {
            question: self.question,
        };
        let key = self.key("bm25", self.question);
        self.cache.legs.get(key, self.search(leg)).await
    }

    async fn semantic(&self, embedded: Option<&Embedded>) -> Result<Cached<Found>, IndexError> {
        let search = async {
            match embedded {
                Some(Embedded { vector, .. }) => self.search(Leg::Semantic { vector }).await,
                None => Ok(Found::nothing()),
            }
        };
        let key = self.key("semantic", self.question);
        self.cache.legs.get(key, search).await
    }

    async fn search(&self, leg: Leg<'_>) -> Result<Found, IndexError> {
        let Contents {
            table, positions, ..
        } = self.contents;
        leg.search(table, positions, self.filter, self.depth, self.ties)
            .await
    }

    /// The ranking that is the same for all questions, so that it is computed once.
    async fn unranked(&self) -> Result<Cached<Found>, IndexError> {
        let Contents {
            table, positions, ..
        } = self.contents;
        let search = unranked::search(table, positions, self.filter, self.depth);
        self.cache.legs.get(self.key("unranked", ""), search).await
    }

    fn key(&self, leg: &'static str, question: &str) -> LegKey {
        LegKey {
            leg,
            question: question.to_owned(),
            filter: self.filter.sql().map(ToOwned::to_owned),
            depth: self.depth,
        }
    }
}
