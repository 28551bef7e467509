//! One question to an index: which searches a profile runs for it, and which of their results come from the cache.

use std::sync::Arc;
use std::time::Instant;

use futures::try_join;

use super::cache::{Cached, Embedded, LegKey};
use super::hit::{self, Found};
use super::leg::Leg;
use super::timings::Timings;
use super::{Cache, Filter, UsualTies, fusion, unranked};
use crate::error::IndexError;
use crate::profile::{Fusion, Profile};
use crate::table::contents::Contents;
use crate::table::positions::Positions;
use crate::vector_table::VectorTable;

/// One question to an index, at one depth.
#[derive(Debug)]
pub(super) struct Inquiry<'a> {
    pub(super) contents: &'a Contents,
    pub(super) filter: &'a Filter,
    pub(super) cache: &'a Cache,
    pub(super) question: &'a str,
    /// The question's embedding, if the profile needs one; `None` for a question without text, to which nothing is similar.
    pub(super) embedded: Option<&'a Embedded>,
    pub(super) ties: &'a UsualTies,
    /// The approximate search of the vectors; `None` for exact search.
    pub(super) approximate: Option<&'a VectorTable>,
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
                let result = self.semantic().await?;
                Ok(self.record("semantic", result))
            }
            Profile::Hybrid(method) => self.hybrid(method).await,
        }
    }

    async fn hybrid(&mut self, method: Fusion) -> Result<Arc<Found>, IndexError> {
        let (lexical, semantic) = try_join!(Box::pin(self.bm25()), Box::pin(self.semantic()))?;
        let lexical = self.record("bm25", lexical);
        let semantic = self.record("semantic", semantic);
        let fused = fused(method, &lexical, &semantic, &self.contents.positions);
        Ok(self.record(
            "fuse",
            Cached {
                value: Arc::new(fused),
                hit: false,
            },
        ))
    }

    fn record(&mut self, stage: &str, result: Cached<Found>) -> Arc<Found> {
        if let Some(duration) = result.value.duration {
            self.timings.add(stage, duration, result.hit);
        }
        result.value
    }

    async fn bm25(&self) -> Result<Cached<Found>, IndexError> {
        let leg = Leg::Bm25 {
            question: self.question,
        };
        let key = self.key("bm25", self.question);
        self.cache.legs.get(key, self.search(leg)).await
    }

    async fn semantic(&self) -> Result<Cached<Found>, IndexError> {
        let search = async {
            match self.embedded {
                Some(Embedded { vector, .. }) => {
                    let approximate = self.approximate;
                    let leg = Leg::Semantic {
                        vector,
                        approximate,
                    };
                    self.search(leg).await
                }
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
        LegKey::new(leg, question, self.filter, self.depth)
    }
}

/// The results of both searches as one.
pub(super) fn fused(
    method: Fusion,
    lexical: &Found,
    semantic: &Found,
    positions: &Positions,
) -> Found {
    let started = Instant::now();
    let mut hits = fusion::fuse(method, &lexical.hits, &semantic.hits);
    hit::sort(&mut hits, positions);
    Found {
        hits,
        exhausted: lexical.exhausted && semantic.exhausted,
        duration: Some(started.elapsed()),
    }
}
