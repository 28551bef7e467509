//! A search by the engine, deepened until ties at its cut are exact.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

use super::hit::{self, FoundChunks, Hit, LeftOut};
use super::{Filter, engine_query};
use crate::error::IndexError;
use crate::table::contents::Contents;
use crate::vector_table::VectorTable;

/// Factor by which each further attempt asks for more rows.
const MORE: usize = 4;
/// Rows beyond the depth that the first attempt asks for, so that it usually covers a tie at the cut.
const MARGIN: usize = 16;

/// A search by one of the engine's indexes, with the question in the form that it needs.
#[derive(Debug, Clone, Copy)]
pub(super) enum Leg<'a> {
    Bm25 {
        question: &'a str,
    },
    /// A search of the vectors that may miss some.
    Approximate {
        vector: &'a [f32],
        index: &'a VectorTable,
    },
}

/// The number of chunks tied at the cut of the last full-text search. The next one asks for as many more at once: among documents that are
/// alike, every question ends in a tie.
#[derive(Debug, Default)]
pub(crate) struct UsualTies(AtomicUsize);

impl UsualTies {
    /// The number for this search. `None` for an approximate one: what it finds depends on how many rows it is asked for, and must not depend
    /// on other questions.
    fn tied(&self, leg: Leg<'_>) -> Option<&AtomicUsize> {
        matches!(leg, Leg::Bm25 { .. }).then_some(&self.0)
    }
}

impl Leg<'_> {
    /// Finds the best `depth` chunks. An approximate search may miss some of them, and may find fewer.
    ///
    /// Among equal scores at its limit, the engine returns arbitrary chunks. It is asked for more until one returned chunk scores lower
    /// than the last one needed: then every chunk with that score is known, and the tie-breaking is ours.
    pub(super) async fn search(
        self,
        contents: &Contents,
        filter: &Filter,
        ties: &UsualTies,
        depth: usize,
    ) -> Result<FoundChunks, IndexError> {
        let started = Instant::now();
        let positions = &contents.positions;
        let tied = ties.tied(self);
        let usual = tied.map_or(0, |tied| tied.load(Ordering::Relaxed));
        let first = depth + MARGIN + usual;
        let mut limit = first.min(positions.chunks());
        loop {
            let mut hits = self.fetch(contents, filter, limit).await?;
            let all = hits.len() < limit || limit >= positions.chunks();
            let left_out = hit::keep_best(&mut hits, depth, positions);
            if all || left_out.lower > 0 {
                if let Some(tied) = tied {
                    tied.store(left_out.tied, Ordering::Relaxed);
                }
                // The cache may hold the hits for other profiles.
                hits.shrink_to_fit();
                return Ok(FoundChunks {
                    hits,
                    exhausted: all && left_out == LeftOut::default(),
                    duration: Some(started.elapsed()),
                });
            }
            limit = limit.saturating_mul(MORE).min(positions.chunks());
        }
    }

    async fn fetch(
        self,
        contents: &Contents,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Hit>, IndexError> {
        let Contents {
            table, positions, ..
        } = contents;
        match self {
            Self::Bm25 { question } => {
                engine_query::best_by_text(table, positions, filter, question, limit).await
            }
            Self::Approximate { vector, index } => {
                engine_query::best_by_vector(index, positions, filter, vector, limit).await
            }
        }
    }
}
